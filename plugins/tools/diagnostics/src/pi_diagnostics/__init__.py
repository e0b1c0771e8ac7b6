"""Adds the errors that an edit introduced to its result: from installed language servers and linters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PluginSetting

__all__ = ["activate", "register_settings"]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``diagnostics.enabled``, ``diagnostics.servers`` and ``diagnostics.timeout``."""
    from pi_diagnostics.options import SETTINGS

    return SETTINGS


@hookimpl
def activate(pi: PiAPI) -> None:
    """Observe edits; no program is looked for before the first one."""
    from pi_diagnostics.hooks import Hooks

    Hooks().listen(pi)
