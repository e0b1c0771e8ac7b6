"""The current key bindings: the defaults with the user's changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_tui.keys.actions import ACTIONS, default_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_tui.keys.actions import Place, Platform

__all__ = ["Bindings"]


class Bindings:
    """The keys of every action, and the actions of every key.

    Args:
        platform: The platform, which determines the defaults.
        changed: Keys that the user assigned to actions in place of the defaults; an empty tuple unbinds the action.
    """

    def __init__(self, platform: Platform, changed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.platform = platform
        self._keys = default_keys(platform) | {name: keys for name, keys in (changed or {}).items() if name in ACTIONS}
        self._actions: dict[str, list[str]] = {}
        for name, keys in self._keys.items():
            for key in dict.fromkeys(keys):
                self._actions.setdefault(key, []).append(name)

    def keys(self, action: str) -> tuple[str, ...]:
        """Return the keys of an action; show the first one if there is room for only one."""
        return self._keys[action]

    def all(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys of every action."""
        return dict(self._keys)

    def actions(self, key: str, place: Place | None = None) -> tuple[str, ...]:
        """Return the actions of a key: all of them, or only those available in a place."""
        return tuple(name for name in self._actions.get(key, ()) if place is None or place in ACTIONS[name].places)

    def does(self, key: str, action: str) -> bool:
        """Whether a key triggers an action."""
        return action in self._actions.get(key, ())

    @property
    def bound_keys(self) -> tuple[str, ...]:
        """All keys that have an action."""
        return tuple(self._actions)
