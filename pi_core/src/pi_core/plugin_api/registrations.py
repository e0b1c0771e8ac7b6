"""The registrations of a session's plugins: made by hooks for every session, or at run time for this session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.host.kinds import KINDS
from pi_core.host.registry import Registered
from pi_hookspecs import PluginError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost

__all__ = ["SessionRegistrations", "checked"]


def checked(hook: str, plugin: str, thing: Any) -> Any:
    """Return an object after checking that it can be registered under a hook.

    Raises:
        PluginError: It cannot be registered; the message says why.
    """
    problem = KINDS[hook].problem(thing)
    if problem is not None:
        raise PluginError(plugin, problem)
    return thing


class SessionRegistrations:
    """Finds registered objects by the host's rules: the last plugin in load order wins, unless a setting prefers one.

    Args:
        host: The plugin host, with the registrations made by hooks.
    """

    def __init__(self, host: PluginHost) -> None:
        self._host = host
        self._own: dict[str, list[Registered]] = {}

    def add(self, hook: str, plugin: str, thing: Any) -> Callable[[], None]:
        """Register an object for this session; return a function that removes it. A plugin's latest object is used."""
        registered = Registered(plugin, KINDS[hook].key_of(thing), thing)
        own = self._own.setdefault(hook, [])
        own.append(registered)

        def remove() -> None:
            own[:] = [each for each in own if each is not registered]

        return remove

    def find(self, hook: str, name: str) -> Registered | None:
        """Return the object registered as ``name`` or ``plugin:name``; None if there is none."""
        found = self._host.find(hook, name)
        if hook not in self._own:
            return found
        own = [each for each in self._own.get(hook, ()) if each.name == name]
        if own:
            return self._winner(hook, name, [found, *own] if found is not None else own)
        plugin, _, plain = name.partition(":")
        hidden = [each for each in self._own.get(hook, ()) if (each.plugin, each.name) == (plugin, plain)]
        return hidden[-1] if hidden else found

    def find_all(self, hook: str) -> dict[str, Registered]:
        """Return all objects registered under a hook, by name."""
        found = self._host.find_all(hook)
        for name in dict.fromkeys(each.name for each in self._own.get(hook, ())):
            winner = self.find(hook, name)
            assert winner is not None  # noqa: S101 - it is in the list
            found[name] = winner
        return found

    def _winner(self, hook: str, name: str, candidates: list[Registered]) -> Registered:
        by_plugin = {each.plugin: each for each in sorted(candidates, key=lambda each: self._host.rank(each.plugin))}
        return by_plugin[self._host.choice(hook, name, [*by_plugin])]
