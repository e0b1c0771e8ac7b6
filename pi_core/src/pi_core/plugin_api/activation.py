"""Activates plugins before a session exists, to collect their options and their providers.

``activate`` only registers objects; registrations are queued and bound to a session later. The command line can
therefore activate plugins to collect their options, and the session takes over the queued registrations.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pi_core.conversation.activations import run_activate
from pi_core.plugin_api.api import pi_of
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost
    from pi_core.host.activated import ActivatedPlugin
    from pi_core.models.registry import ModelRegistry
    from pi_hookspecs import Flag

__all__ = ["flags_of_activations", "register_providers", "registered_in_activation"]


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
    host.load(*(name for name in activating if not host.is_default(name)))
    number = 0
    for plugin, activate in host.activations():
        if host.is_default(plugin):
            continue
        try:
            number += _prepare(host, plugin, activate).bind_providers(host, models)
        except UserError as error:
            host.report(plugin, "activate", str(error))
    return number


def _prepare(host: PluginHost, plugin: str, activate: Callable[..., Any]) -> ActivatedPlugin:
    if plugin not in host.activated:
        host.activated[plugin] = pi = pi_of(host, plugin)
        run_activate(pi, activate, host.load_seconds, partial(host.report, plugin, "activate"))
    return host.activated[plugin]
