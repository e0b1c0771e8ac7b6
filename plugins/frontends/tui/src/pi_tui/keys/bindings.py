"""Which keys do what now: the defaults, changed by the user's."""

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
        platform: Which defaults there are.
        changed: Keys of actions that the user has chosen, in place of the defaults; empty: none.
    """

    def __init__(self, platform: Platform, changed: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.platform = platform
        self._keys = default_keys(platform) | {name: keys for name, keys in (changed or {}).items() if name in ACTIONS}
        self._actions: dict[str, list[str]] = {}
        for name, keys in self._keys.items():
            for key in dict.fromkeys(keys):
                self._actions.setdefault(key, []).append(name)

    def keys(self, action: str) -> tuple[str, ...]:
        """Return the keys of an action; the first is the one to show where there is room for one."""
        return self._keys[action]

    def all(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys of each action."""
        return dict(self._keys)

    def actions(self, key: str, place: Place | None = None) -> tuple[str, ...]:
        """Return the actions of a key: all, or those that can be done in a place."""
        return tuple(name for name in self._actions.get(key, ()) if place is None or place in ACTIONS[name].places)

    def does(self, key: str, action: str) -> bool:
        """Whether a key does this."""
        return action in self._actions.get(key, ())

    @property
    def bound_keys(self) -> tuple[str, ...]:
        """All keys that do anything."""
        return tuple(self._actions)
