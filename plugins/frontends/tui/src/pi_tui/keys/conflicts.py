"""Detection of conflicts: keys with two actions, of which only one would be performed."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from pi_tui.keys.actions import ACTIONS, RESERVED, default_keys
from pi_tui.keys.names import known_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pi_tui.keys.bindings import Bindings

__all__ = ["Conflict", "ShortcutConflict", "find_conflicts", "find_shortcut_conflicts"]


class Conflict(NamedTuple):
    """Two actions that have the same key in the same place."""

    key: str
    first: str
    second: str

    def __str__(self) -> str:
        """Return the line that reports it to the user."""
        return f"{self.key!r} is the key of both {self.first!r} and {self.second!r}: give one of them another."


class ShortcutConflict(NamedTuple):
    """A plugin's shortcut for a key that pi uses itself, or that does not exist.

    Attributes:
        plugin: The plugin.
        key: The key as the plugin wrote it.
        action: The action that the key already has; None if there is no such key.
        wins: Whether the plugin gets the key.
    """

    plugin: str | None
    key: str
    action: str | None
    wins: bool

    def __str__(self) -> str:
        """Return the line that reports it to the user."""
        whose = "A plugin's shortcut" if self.plugin is None else f"The shortcut of plugin {self.plugin!r}"
        if self.action is None:
            return f"{whose} {self.key!r} does nothing: there is no such key."
        if self.wins:
            return f"{whose} takes {self.key} from {self.action!r}."
        return f"{whose} {self.key!r} does nothing: {self.action!r} needs that key."


def find_conflicts(bindings: Bindings) -> list[Conflict]:
    """Return the conflicts, except between actions that share a key by default, since the code chooses between those.

    For example, whichever key the user assigns to the two actions of Control-D, it exits at an empty prompt and deletes
    otherwise.
    """
    settled = _pairs(default_keys(bindings.platform))
    found = []
    for key in bindings.bound_keys:
        for first, second in combinations(bindings.actions(key), 2):
            if frozenset((first, second)) not in settled and {*ACTIONS[first].places} & {*ACTIONS[second].places}:
                found.append(Conflict(key, first, second))
    return found


def find_shortcut_conflicts(bindings: Bindings, shortcuts: Iterable[tuple[str, str | None]]) -> list[ShortcutConflict]:
    """Return the problems with the keys that plugins want to use at the prompt.

    Args:
        bindings: The key bindings without the plugins.
        shortcuts: The keys, each with its plugin.
    """
    return [conflict for name, plugin in shortcuts for conflict in _shortcut_conflict(bindings, name, plugin)]


def _shortcut_conflict(bindings: Bindings, name: str, plugin: str | None) -> Iterator[ShortcutConflict]:
    key = known_key(name)
    if key is None:
        yield ShortcutConflict(plugin, name, None, wins=False)
        return
    actions = bindings.actions(key, "main")
    reserved = [action for action in actions if action in RESERVED]
    if reserved or actions:
        yield ShortcutConflict(plugin, name, (reserved or actions)[0], wins=not reserved)


def _pairs(keys: Mapping[str, tuple[str, ...]]) -> set[frozenset[str]]:
    by_key: dict[str, list[str]] = {}
    for action, its_keys in keys.items():
        for key in its_keys:
            by_key.setdefault(key, []).append(action)
    return {frozenset(pair) for actions in by_key.values() for pair in combinations(actions, 2)}
