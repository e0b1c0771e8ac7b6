"""The settings ``notifications.*``."""

from __future__ import annotations

from pi_hookspecs import PluginSetting

__all__ = ["AFTER", "COMMAND", "SETTINGS", "TERMINAL"]

TERMINAL = PluginSetting(
    "notifications.terminal",
    schema={"enum": ["bell", "osc9", "osc777", None], "default": None},
    description="How the terminal notifies of a prompt that is done: its bell, or the desktop by OSC 9 or 777",
    project="set",
)
COMMAND = PluginSetting(
    "notifications.command",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="A program and its arguments, run with title and text after them",
    protected=True,
    project="nothing",
)
AFTER = PluginSetting(
    "notifications.after",
    schema={"type": "number", "minimum": 0, "default": 5},
    description="Seconds that a prompt must have taken for a notification",
    project="set",
)
SETTINGS = (TERMINAL, COMMAND, AFTER)
