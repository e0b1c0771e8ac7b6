"""The tool ``fetch``: one web page as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PluginSetting, Tool

__all__ = ["register_settings", "register_tools"]


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add ``fetch``."""
    from pi_web.tool import fetch_tool

    return [fetch_tool()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``web.allowPrivate``, ``web.maxBytes`` and ``web.timeout``."""
    from pi_web.options import SETTINGS

    return SETTINGS
