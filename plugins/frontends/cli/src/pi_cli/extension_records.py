"""Index records of local extensions: their registrations and implemented hooks, as for installed plugins."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from pi_cli.report import warn
from pi_core import PluginRecord
from pi_core.host.kinds import KINDS
from pi_hookspecs import answers_of
from pi_hookspecs.specs import all_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import HookDispatcher, PluginHost

__all__ = ["all_records", "extension_record", "implemented", "left_out_records"]


def all_records(host: PluginHost) -> Iterator[PluginRecord]:
    """Yield the installed plugins, then the local extensions, of these the omitted ones last."""
    yield from host.records.values()
    yield from (extension_record(name, host) for name in host.added())
    yield from left_out_records(host)


def left_out_records(host: PluginHost) -> Iterator[PluginRecord]:
    """Yield the local extensions that are disabled, or whose ``pi_when`` is not met."""
    if host.extensions is not None:
        for source, condition in [*((source, {}) for source in host.extensions.disabled), *host.extensions.waiting]:
            yield PluginRecord(source.name, _KIND, "", str(source.path or source.name), when=condition)


def extension_record(name: str, host: PluginHost) -> PluginRecord:
    """Describe a local extension that is loaded."""
    sources = host.extensions.sources if host.extensions is not None else {}
    path = sources[name].path if name in sources else None
    record = PluginRecord(name, _KIND, "", str(path or _file_of(host.plugin_object(name)) or name))
    for hook, kind in KINDS.items():
        described = [kind.describe(each.thing) for each in host.registrations(hook) if each.plugin == name]
        record.registers |= {hook: described} if described else {}
    record.hooks = implemented(name, host, host.dispatcher(warn))
    record.indexed = False
    return record


def _file_of(plugin: object) -> str | None:
    """Return the file of a plugin's code, such as one of a package that is used for one run."""
    module = plugin if isinstance(plugin, ModuleType) else sys.modules.get(type(plugin).__module__)
    return getattr(module, "__file__", None)


def implemented(plugin: str, host: PluginHost, dispatcher: HookDispatcher) -> list[str]:
    """Return the names of the event hooks that a plugin implements, and ``activate``."""
    activated = ["activate"] if plugin in dict(host.activations()) else []
    return activated + [
        hook
        for hook, spec in all_hookspecs().items()
        if answers_of(spec) is not None and plugin in [each.plugin for each in dispatcher.implementations(hook)]
    ]


_KIND = "a local extension"
