"""Registrations by hook and name, and which one wins if two plugins use the same name."""

from __future__ import annotations

from bisect import insort
from typing import TYPE_CHECKING, Any

from pi_core.host.kinds import KINDS
from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Registered", "Registry"]


@frozen(eq=False, repr=False)
class Registered(Value):
    """An object, its name, and the plugin that registered it."""

    plugin: str
    name: str
    thing: Any


class Registry:
    """What the loaded plugins registered, by hook and name.

    If two plugins register the same name, the later one in load order wins, unless ``prefer`` (``{"tool:grep":
    "plugin"}``) names another plugin; the hidden registration is found as ``plugin:name``.

    Args:
        prefer: The setting ``plugins.prefer``.
        rank: Returns a plugin's place in load order.
        on_change: Called when an object is registered or removed.
    """

    def __init__(
        self, prefer: Mapping[str, str], rank: Callable[[str], int], on_change: Callable[[], None] = lambda: None
    ) -> None:
        self._on_change = on_change
        self._prefer = prefer
        self._rank = rank
        self._all: dict[str, list[Registered]] = {hook: [] for hook in KINDS}
        self.changes = 0
        """The number of registrations and removals so far."""

    def add(self, hook: str, plugin: str, thing: Any) -> Callable[[], None]:
        """Register an object for all sessions at run time; return a function that removes it."""
        mine = Registered(plugin, KINDS[hook].key_of(thing), thing)

        def remove() -> None:
            self._count_change()
            self._all[hook] = [each for each in self._all[hook] if each is not mine]

        self._count_change()
        others = self._all[hook]
        if not others or others[-1].plugin == plugin:  # most plugins register in succession
            others.append(mine)
        else:
            insort(others, mine, key=lambda each: self._rank(each.plugin))  # plugins are loaded when needed
        return remove

    def remove(self, hook: str, plugin: str, name: str | None = None) -> None:
        """Remove a plugin's registrations under a hook, or only the registration of one name."""
        self._count_change()
        self._all[hook] = [
            each for each in self._all[hook] if each.plugin != plugin or (name is not None and each.name != name)
        ]

    def _count_change(self) -> None:
        self.changes += 1
        self._on_change()

    def winners(self, hook: str) -> dict[str, Registered]:
        """Return the registration that each name resolves to."""
        found: dict[str, dict[str, Registered]] = {}
        for each in self._all[hook]:
            found.setdefault(each.name, {})[each.plugin] = each
        return {name: plugins[self.choice(hook, name, [*plugins])] for name, plugins in found.items()}

    def choice(self, hook: str, name: str, plugins: Sequence[str]) -> str:
        """Return the plugin to which a name resolves, among these plugins in load order."""
        preferred = self._prefer.get(f"{KINDS[hook].name}:{name}")
        return preferred if preferred is not None and preferred in plugins else plugins[-1]

    def get(self, hook: str, name: str) -> Registered | None:
        """Return the registration that a name, or ``plugin:name``, resolves to; None if there is none."""
        plugins = {each.plugin: each for each in self._all[hook] if each.name == name}
        found = plugins[self.choice(hook, name, [*plugins])] if plugins else None
        if found is None and ":" in name:
            plugin, _, plain = name.partition(":")
            found = next(
                (each for each in reversed(self._all[hook]) if (each.plugin, each.name) == (plugin, plain)), None
            )
        return found

    def all(self, hook: str) -> list[Registered]:
        """Return all registrations, including hidden ones, in load order."""
        return list(self._all[hook])
