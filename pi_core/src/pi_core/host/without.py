"""Creates a host without some plugins of another host, for a session that disables them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.host.extensions import LocalExtensions
from pi_core.host.package_resources import names_of_missing_guards
from pi_core.host.plugin_host import PluginHost
from pi_hookspecs import UnknownName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from pi_core.settings import Settings

__all__ = ["host_without", "require_plugins"]


def host_without(
    host: PluginHost,
    names: Iterable[str],
    *,
    settings: Settings,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    say: Callable[[str], object] = lambda _line: None,
) -> PluginHost:
    """Return a new host with a host's plugins, local extensions and plugins of the program, except for some names.

    Args:
        host: The existing host; plugins that it disables for the run are also disabled in the new host.
        names: Plugins to leave out.
        settings: The settings of the new host.
        cwd: The folder whose local extensions are loaded.
        environ: As for ``LocalExtensions``.
        say: Called with a line of text before a slow step.

    Raises:
        UnknownName: No plugin has one of the names.
    """
    names = frozenset(names)
    common = host.extensions
    local = common.plugin_names if common is not None else set()
    own = [name for name in host.added() if name not in local]
    made = PluginHost(
        settings,
        disabled=host.disabled_for_run | names,
        installed=host.installed,
        builtins=host.builtins,
        no_builtins=host.no_builtins,
    )
    if common is not None:
        LocalExtensions(made, cwd=cwd, given=common.given, discover=common.discover, environ=environ, say=say).load()
    for name in own:
        if name not in names:
            made.add(host.plugin_object(name), name)
    require_plugins(made, names - {*own})
    return made


def require_plugins(host: PluginHost, names: Iterable[str]) -> None:
    """Check that a host has plugins with these names, including disabled ones.

    Raises:
        UnknownName: The host does not have such a plugin.
    """
    disabled = [each.name for each in host.extensions.disabled] if host.extensions is not None else []
    known = [*host.records, *host.added(), *disabled]
    for name in names:
        if name not in known and name not in names_of_missing_guards(host.settings):
            raise UnknownName("plugin", name, known)
