"""How keys are written for the user: as their keyboard calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.keys.names import split_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.keys.actions import Platform
    from pi_tui.keys.bindings import Bindings

__all__ = ["action_hint", "key_hint"]

_CALLED: Mapping[Platform, Mapping[str, str]] = {
    "darwin": {"alt": "option", "super": "cmd"},
    "win32": {"super": "win"},
    "wsl": {"super": "win"},
}


_SHOWN = {"pageup": "pageUp", "pagedown": "pageDown"}


def key_hint(key: str, platform: Platform) -> str:
    """Return how a canonical key is called: ``option+enter`` on macOS for ``alt+enter``."""
    held, name = split_key(key)
    called = _CALLED.get(platform, {})
    return "+".join([*(called.get(each, each) for each in held), _SHOWN.get(name, name)])


def action_hint(bindings: Bindings, *actions: str, every: bool = False) -> str:
    """Return the keys of actions as one hint: ``ctrl+c/ctrl+d``; empty if they have none.

    Args:
        bindings: What keys do.
        actions: The actions, whose first keys are named.
        every: Name all their keys.
    """
    keys = [key for action in actions for key in bindings.keys(action)[: None if every else 1]]
    return "/".join(key_hint(key, bindings.platform) for key in dict.fromkeys(keys))
