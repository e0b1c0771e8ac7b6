"""What a session's plugins registered at run time, and the ``pi`` of each, from ``activate`` to a reload or the end."""

from __future__ import annotations

from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from pi_core.host.guarded import guarded
from pi_core.host.kinds import KINDS
from pi_core.host.registry import Registered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.runtime import Runtime
    from pi_core.host import PluginHost
    from pi_core.host.activated import ActivatedPlugin
    from pi_hookspecs import Flag

__all__ = ["Activations", "SessionRegistrations", "run_activate"]


class Activations:
    """The ``pi`` of each plugin of a session.

    Args:
        runtime: The objects that all parts of the session share.

    Attributes:
        flags: The options that each plugin registered; kept after ``end``.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._all: dict[str, ActivatedPlugin] = {}
        self.flags: dict[str, Sequence[Flag]] = {}

    def begin(self) -> None:
        """Activate all plugins, in load order."""
        host = self._runtime.host
        for plugin, activate in host.activations():
            prepared = host.activated.pop(plugin, None)
            if prepared is not None:
                self._bind(prepared)
            else:
                self.activate(plugin, activate)

    def activate(self, plugin: str, activate: Callable[..., Any]) -> str | None:
        """Activate one plugin; return its error, already reported, or None. Registrations before the error stay."""
        runtime, problems = self._runtime, []
        pi = runtime.plugins.pi_of(runtime.host, plugin)

        def report(message: str) -> None:
            problems.append(message)
            runtime.report_plugin_error(plugin, "activate", message)

        run_activate(pi, activate, runtime.host.load_seconds, report)
        self._bind(pi)
        return problems[0] if problems else None

    def end(self, reason: str, plugin: str | None = None) -> None:
        """Remove the registrations of all plugins or of one, and retire their ``pi`` with ``reason``."""
        if plugin is None:
            self._runtime.hooks.activations.clear()
        for name in [*self._all] if plugin is None else [plugin]:
            pi = self._all.pop(name, None)
            if pi is not None:
                pi.withdraw()
                pi.retire(reason)

    def _bind(self, pi: ActivatedPlugin) -> None:
        self._all[pi.plugin] = pi
        self.flags[pi.plugin] = pi.flags
        pi.bind(self._runtime.plugins.parts)
        started, seconds, failed = pi.activation
        self._runtime.hooks.activated(pi.plugin, started, seconds, failed=failed)


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


def run_activate(
    pi: ActivatedPlugin, activate: Callable[..., Any], seconds: float, report: Callable[[str], None]
) -> None:
    """Call ``activate`` with ``pi``, for at most some seconds; record when and how long, and report a failure."""
    started, begun, problems = time(), perf_counter(), 0

    def count(message: str) -> None:
        nonlocal problems
        problems += 1
        report(message)

    with guarded(count, pi.plugin, "activate", seconds):
        waiting = activate(pi)
        if hasattr(waiting, "__await__"):
            getattr(waiting, "close", bool)()
            count("is async; activate must be a plain function, and its handlers may be async")
    pi.activation = started, perf_counter() - begun, problems > 0
