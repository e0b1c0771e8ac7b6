"""The setting ``acp.terminal``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["TERMINAL"]

TERMINAL = PluginSetting(
    "acp.terminal",
    schema={"type": "boolean", "default": False},
    description="Run commands in the [editor's](acp.md) terminals, where pi's limits do not apply",
    project="disable",
)
