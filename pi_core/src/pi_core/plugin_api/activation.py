"""Activates plugins: at the start of a session, at a reload, and before a session exists, to collect their options.

``activate`` only registers objects; registrations are queued and bound to a session later. The command line can
therefore activate plugins to collect their options, and the session takes over the queued registrations.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter, time
from typing import TYPE_CHECKING, Any

from pi_core.host.guarded import guarded
from pi_core.host.records import DEFAULT_PLUGINS
from pi_core.plugin_api.api import PluginAPI
from pi_core.plugin_api.deprecated_use import noting_api
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.host import PluginHost
    from pi_core.host.activated import ActivatedPlugin
    from pi_core.models.registry import ModelRegistry
    from pi_core.plugin_api.port import SessionPort
    from pi_hookspecs import Flag

__all__ = ["Activations", "flags_of_activations", "register_providers", "registered_in_activation"]


def flags_of_activations(host: PluginHost) -> list[tuple[str, Flag]]:
    """Activate every plugin for the next session, and return the options that they register."""
    for plugin, activate in host.activations():
        _prepare(host, plugin, activate)
    return [(plugin, flag) for plugin, pi in host.activated.items() for flag in pi.flags]


def registered_in_activation(host: PluginHost, plugin: str) -> list[tuple[str, str]]:
    """Activate one plugin for the next session, and return kind and name of everything that it registers."""
    activate = dict(host.activations()).get(plugin)
    return _prepare(host, plugin, activate).registered() if activate is not None else []


def register_providers(host: PluginHost, models: ModelRegistry) -> int:
    """Register the providers that plugins add in ``activate``, and return their number.

    The plugins are activated for the next session, which has to use the same registry. pi's own plugins are skipped:
    they add providers with ``register_models``.
    """
    activating = (
        name for name, record in host.records.items() if "activate" in record.hooks and host.is_wanted(record)
    )
    host.load(*(name for name in activating if name not in DEFAULT_PLUGINS))
    number = 0
    for plugin, activate in host.activations():
        if plugin in DEFAULT_PLUGINS:
            continue
        try:
            number += _prepare(host, plugin, activate).bind_providers(host, models)
        except UserError as error:
            host.report(plugin, "activate", str(error))
    return number


def _prepare(host: PluginHost, plugin: str, activate: Callable[..., Any]) -> ActivatedPlugin:
    if plugin not in host.activated:
        host.activated[plugin] = pi = _api_class(host, plugin)(plugin)
        _activate(host, pi, activate, partial(host.report, plugin, "activate"))
    return host.activated[plugin]


class Activations:
    """The ``pi`` of each plugin of a session.

    Args:
        session: The session that the plugins use.

    Attributes:
        flags: The options that each plugin registered; kept after ``end``.
    """

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._all: dict[str, ActivatedPlugin] = {}
        self.flags: dict[str, Sequence[Flag]] = {}

    def begin(self) -> None:
        """Activate all plugins, in load order."""
        for plugin, activate in self._session.host.activations():
            prepared = self._session.host.activated.pop(plugin, None)
            if prepared is not None:
                self._bind(prepared)
            else:
                self.activate(plugin, activate)

    def activate(self, plugin: str, activate: Callable[..., Any]) -> str | None:
        """Activate one plugin; return its error, already reported, or None. Registrations before the error stay."""
        session, problems = self._session, []
        pi = _api_class(session.host, plugin)(plugin)

        def report(message: str) -> None:
            problems.append(message)
            session.report_plugin_error(plugin, "activate", message)

        _activate(session.host, pi, activate, report)
        self._bind(pi)
        return problems[0] if problems else None

    def end(self, reason: str, plugin: str | None = None) -> None:
        """Remove the registrations of all plugins or of one, and retire their ``pi`` with ``reason``."""
        if plugin is None:
            self._session.hooks.activations.clear()
        for name in [*self._all] if plugin is None else [plugin]:
            pi = self._all.pop(name, None)
            if pi is not None:
                pi.withdraw()
                pi.retire(reason)

    def _bind(self, pi: ActivatedPlugin) -> None:
        self._all[pi.plugin] = pi
        self.flags[pi.plugin] = pi.flags
        pi.bind(self._session)
        started, seconds, failed = pi.activation
        self._session.hooks.activated(pi.plugin, started, seconds, failed=failed)


def _api_class(host: PluginHost, plugin: str) -> Any:
    cls = noting_api(PluginAPI)
    record = host.records.get(plugin)
    if record is None or record.grants is None:
        return cls
    from pi_core.plugin_api.held import held_api  # few plugins have grants

    return held_api(cls, host, plugin)


def _activate(host: PluginHost, pi: PluginAPI, activate: Callable[..., Any], report: Callable[[str], None]) -> None:
    started, begun, problems = time(), perf_counter(), 0

    def count(message: str) -> None:
        nonlocal problems
        problems += 1
        report(message)

    with guarded(count, pi.plugin, "activate", host.load_seconds):
        waiting = activate(pi)
        if hasattr(waiting, "__await__"):
            getattr(waiting, "close", bool)()
            count("is async; activate must be a plain function, and its handlers may be async")
    pi.activation = started, perf_counter() - begun, problems > 0
