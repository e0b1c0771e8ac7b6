"""Keeps long prompts in the cache of their provider while tools run, or also while pi waits for the next prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PluginSetting, Service

__all__ = ["register_services", "register_settings"]


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the policy."""
    from pi_cache_warming.policy import Savings

    return [Savings()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``cacheWarming``."""
    from pi_cache_warming.settings import MODE

    return [MODE]
