"""Notifications when a prompt is done: the terminal's bell, its desktop notifications, or a command of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI

__all__ = ["activate", "pi_when", "register_settings"]

pi_when = {"settings": ["notifications.terminal", "notifications.command"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Watch the session's prompts."""
    from pi_notifications._watch import Watch

    Watch(pi).listen()


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``notifications.terminal``, ``notifications.command`` and ``notifications.after``."""
    return [
        PluginSetting(
            "notifications.terminal",
            schema={"enum": ["bell", "osc9", "osc777", None], "default": None},
            description="How the terminal notifies of a prompt that is done: its bell, or the desktop by OSC 9 or 777",
        ),
        PluginSetting(
            "notifications.command",
            schema={"type": "array", "items": {"type": "string"}, "default": []},
            description="A program and its arguments, run with title and text after them (your own settings only)",
            protected=True,
        ),
        PluginSetting(
            "notifications.after",
            schema={"type": "number", "minimum": 0, "default": 5},
            description="Seconds that a prompt must have taken for a notification",
        ),
    ]
