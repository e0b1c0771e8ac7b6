"""Key names for the user, as they appear on the platform's keyboards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.keys.names import split_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.keys.actions import Platform
    from pi_tui.keys.bindings import Bindings

__all__ = ["LOOK_HINTS", "action_hint", "key_hint"]

_CALLED: Mapping[Platform, Mapping[str, str]] = {
    "darwin": {"alt": "option", "super": "cmd"},
    "win32": {"super": "win"},
    "wsl": {"super": "win"},
}


LOOK_HINTS = {
    "expand": "app.tools.expand",
    "cancel": "app.interrupt",
    "dequeue": "app.message.dequeue",
    "activities": "app.activities.open",
    "next match": "tui.altScreen.searchNext",
    "previous match": "tui.altScreen.searchPrevious",
}
"""Actions whose keys are displayed in the conversation."""

_SHOWN = {"pageup": "pageUp", "pagedown": "pageDown"}


def key_hint(key: str, platform: Platform) -> str:
    """Return the displayed name of a canonical key, such as ``option+enter`` on macOS for ``alt+enter``."""
    held, name = split_key(key)
    called = _CALLED.get(platform, {})
    return "+".join([*(called.get(each, each) for each in held), _SHOWN.get(name, name)])


def action_hint(bindings: Bindings, *actions: str, every: bool = False) -> str:
    """Return the keys of actions as one hint, such as ``ctrl+c/ctrl+d``; empty if they have none.

    Args:
        bindings: The key bindings.
        actions: The actions whose first keys are named.
        every: Whether to name all their keys.
    """
    keys = [key for action in actions for key in bindings.keys(action)[: None if every else 1]]
    return "/".join(key_hint(key, bindings.platform) for key in dict.fromkeys(keys))
