"""Local extensions on the command line: loaded before the options are parsed, because they may add some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_cli.report import say
from pi_cli.subcommands import is_subcommand
from pi_core import PluginRecord
from pi_core.host.kinds import KINDS
from pi_core.host.records import BUILTIN
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from pi_cli.options import Options
    from pi_cli.run_sources import RunSource
    from pi_core import PluginHost
    from pi_core.host.extensions.places import ExtensionSource
    from pi_hookspecs import Flag

__all__ = [
    "FLAGS",
    "SUBCOMMANDS",
    "added_records",
    "find_sources",
    "flag_records",
    "flags_at_run_time",
    "load_extensions",
]

FLAGS = "register_flags"
SUBCOMMANDS = "register_subcommands"


def load_extensions(host: PluginHost, cwd: Path, early: Options, environ: Mapping[str, str]) -> None:
    """Load the extensions of the user, of a trusted project, of settings, and of ``-e``.

    Raises:
        UserError: The argument of ``-e`` is neither an existing path nor a requirement, or it is a subcommand.
    """
    from pi_core import LocalExtensions

    for given in early.extensions:
        if is_subcommand(given, host) and not (cwd / given).exists():  # not a stranger's distribution of this name
            raise UserError(
                f"{given!r} after -e is a subcommand, and -e takes a file, a folder or a requirement: pi -e FILE"
                f" {given}. To install a distribution of this name for the run, write -e '{given}>=0'"
            )
    builtins = [each for each in early.extensions if each.startswith(BUILTIN)]
    if builtins:
        from pi_core.host.builtin_extensions import check_builtins

        check_builtins(builtins, host)
    resolved: list[str] = []
    resources: dict[str, list[tuple[str, str]]] = {}
    for each in early.extensions:
        if each in builtins:
            continue
        found = _resolved(each, host, cwd, environ)
        resolved += found.given
        for kind, paths in found.resources.items():
            resources.setdefault(kind, []).extend((path, each) for path in paths)
    discover = not early.no_extensions
    extensions = LocalExtensions(host, cwd=cwd, given=resolved, discover=discover, say=say, environ=environ)
    extensions.resources = resources
    extensions.load()


def _resolved(given: str, host: PluginHost, cwd: Path, environ: Mapping[str, str]) -> RunSource:
    from pi_cli.run_sources import RunSource, is_package_folder, is_source, resolve_source  # only ``-e`` needs it

    is_path = (cwd / given).exists() and not given.endswith(".whl")
    if is_package_folder(cwd / given) or (is_source(given) and not is_path):
        return resolve_source(given, host.settings.agent_dir, cwd, environ)
    return RunSource([given], {})


def find_sources(host: PluginHost, cwd: Path, early: Options, environ: Mapping[str, str]) -> list[ExtensionSource]:
    """Return the local extensions, without loading any.

    Raises:
        UserError: The argument of ``-e`` is neither an existing path nor a requirement.
    """
    from pi_cli.run_sources import is_package_folder, is_source
    from pi_core.host.extensions.places import find_extensions

    given = [
        each
        for each in early.extensions
        if not (each.startswith(BUILTIN) or is_source(each) or is_package_folder(cwd / each))
    ]
    discover = not early.no_extensions
    return find_extensions(cwd, host.settings, given, discover=discover, environ=environ)[0]


def added_records(host: PluginHost, *hooks: str) -> list[PluginRecord]:
    """Return what plugins that are not in an index have registered under some hooks, as index records."""
    added = set(host.added())
    if not added:
        return []
    return _records(
        (each.plugin, hook, each.thing) for hook in hooks for each in host.registrations(hook) if each.plugin in added
    )


def flags_at_run_time(host: PluginHost) -> list[PluginRecord]:
    """Return the options that plugins register in ``activate``, by activating them."""
    from pi_core.plugin_api.activation import flags_of_activations

    host.load_listeners()
    return flag_records(flags_of_activations(host))


def flag_records(flags: Iterable[tuple[str, Flag]]) -> list[PluginRecord]:
    """Return plugins' options as index records."""
    return _records((plugin, FLAGS, flag) for plugin, flag in flags)


def _records(registered: Iterable[tuple[str, str, object]]) -> list[PluginRecord]:
    records: dict[str, PluginRecord] = {}
    for plugin, hook, thing in registered:
        record = records.setdefault(plugin, PluginRecord(plugin, "", "", ""))
        record.registers.setdefault(hook, []).append(KINDS[hook].describe(thing))
    return list(records.values())
