"""What ``pi --help`` lists before there is an index: subcommands, options and key variables of pi's own plugins."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_core.host.discovery import find_plugins
from pi_core.host.guarded import guarded
from pi_core.host.kinds import KINDS
from pi_core.host.records import DEFAULT_PLUGINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core.host import PluginHost, PluginRecord

__all__ = ["first_records"]

_HOOKS = ("register_subcommands", "register_flags", "register_models")


def first_records(host: PluginHost) -> Iterator[PluginRecord]:
    """Yield pi's own plugins that are installed and enabled, with what ``--help`` lists of them.

    They are imported; third-party plugins are not: help must not run, or wait for, code that was never run before.
    """
    for record in find_plugins()[0]:
        if record.name in DEFAULT_PLUGINS - host.disabled:
            with guarded(partial(host.report, record.name, "import"), record.name, "help", host.load_seconds):
                module = import_module(record.value)
                for hook in _HOOKS:
                    registered: list[Any] = getattr(module, hook, list)()
                    record.registers[hook] = [KINDS[hook].describe(each) for each in registered]
            yield record
