"""The registrations of a session's plugins: by hooks, at run time, and those queued until there is a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from pi_core.host.kinds import KINDS
from pi_core.host.registry import Registered
from pi_hookspecs import PluginError
from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost
    from pi_core.models.registry import ModelRegistry

__all__ = ["BeforeSession", "Registration", "SessionRegistrations", "What", "checked"]


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
        own: dict[str, list[Registered]] = {}
        for each in self._own.get(hook, ()):
            own.setdefault(each.name, []).append(each)
        for name, mine in own.items():
            found[name] = self._winner(hook, name, [found[name], *mine] if name in found else mine)
        return found

    def _winner(self, hook: str, name: str, candidates: list[Registered]) -> Registered:
        by_plugin = {each.plugin: each for each in sorted(candidates, key=lambda each: self._host.rank(each.plugin))}
        return by_plugin[self._host.choice(hook, name, [*by_plugin])]


PortT = TypeVar("PortT")

What: TypeAlias = tuple[str, str]
"""A kind and a name, as in ``("command", "todo")``."""


@frozen(kw_only=True, eq=False, repr=False)
class BeforeSession:
    """Implements ``ProviderPort`` while there is no session."""

    host: PluginHost
    models: ModelRegistry


class Registration(Generic[PortT]):
    """One registration of a plugin, which takes effect now or as soon as there is a session.

    Args:
        what: The kind and name of the registered object.
        add: Registers the object and returns a function that removes it.
        forget: Called when the registration is removed.
    """

    def __init__(
        self, what: What, add: Callable[[PortT], Callable[[], None]], forget: Callable[[Registration[Any]], None]
    ) -> None:
        self.what = what
        self._add: Callable[[PortT], Callable[[], None]] | None = add
        self._forget = forget
        self._remove: Callable[[], None] | None = None

    def bind(self, port: PortT) -> None:
        """Register the object unless that was done already: a provider may be registered before the session."""
        if self._add is not None and self._remove is None:
            self._remove = self._add(port)

    def remove(self) -> None:
        """Remove the registration, or cancel a queued one; a second call does nothing."""
        self._add, take_away, self._remove = None, self._remove, None
        self._forget(self)
        if take_away is not None:
            take_away()
