"""Notifications when a prompt is done: the terminal's bell, its desktop notifications, or a command of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PluginSetting

__all__ = ["activate", "pi_when", "register_settings"]

pi_when = {"settings": ["notifications.terminal", "notifications.command"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Watch the session's prompts."""
    from pi_notifications.watch import Watch

    Watch(pi).listen()


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``notifications.terminal``, ``notifications.command`` and ``notifications.after``."""
    from pi_notifications.settings import SETTINGS

    return SETTINGS
