"""A test's plugins: from its marker, or else from its project, local extensions, and installed distributions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pi_hookspecs import UnknownName, UserError
from pi_testing.cache_guard import CACHE_LINT
from pi_testing.options import SESSION_STORE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pi_testing.options import PiOptions

__all__ = ["extensions_for", "installed_plugin", "plugins_for"]

GROUP = "pi"

_NO_ENTRY_POINT = "no distribution has an entry point of this name in group 'pi'"
_HINTS = {
    CACHE_LINT: "the fixture cache_guard needs it: pip install pluggypi-cache-lint",
    SESSION_STORE: "it stores sessions: pip install pluggypi-session-jsonl",
}


def plugins_for(options: PiOptions, test: Path) -> dict[str, object]:
    """Return the plugin objects by name, in load order: installed ones first.

    Args:
        options: The test's options.
        test: The test's file; without ``plugins`` in the options, the entry points of group ``pi`` in the nearest
            ``pyproject.toml`` at or above it count.

    Raises:
        UnknownName: No installed plugin has a name of ``entry_points``, or the plugin that stores sessions is missing.
    """
    found = {name: installed_plugin(name) for name in options.installed_plugins}
    if options.plugins is not None:
        return found | _named(options.plugins)
    return found | {name: resolve_name(value) for name, value in _own_entry_points(test.parent).items()}


def installed_plugin(name: str) -> object:
    """Return an installed plugin.

    Raises:
        UnknownName: No installed plugin has this name.
    """
    installed = _installed()
    if name not in installed:
        raise UnknownName("plugin", name, installed, _HINTS.get(name, _NO_ENTRY_POINT))
    return resolve_name(installed[name])


def extensions_for(options: PiOptions, test: Path) -> list[Path]:
    """Return the files and folders of the test's local extensions; relative ones are next to the test's file.

    Raises:
        UserError: There is nothing at one of the paths.
    """
    found = [test.parent / each for each in options.extensions]
    missing = [str(each) for each in found if not each.exists()]
    if missing:
        raise UserError(f"@pytest.mark.pi(extensions=...) names {', '.join(missing)}: there is no such file or folder")
    return found


@cache
def _own_entry_points(folder: Path) -> dict[str, str]:
    for directory in (folder, *folder.parents):
        file = directory / "pyproject.toml"
        if file.is_file():
            project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8")).get("project", {})
            return dict(project.get("entry-points", {}).get(GROUP, {}))
    return {}


@cache
def _installed() -> dict[str, str]:
    from pi_core import find_plugins

    found, _ = find_plugins()
    return {plugin.name: plugin.value for plugin in found}


def _named(plugins: Mapping[str, object] | Iterable[object]) -> dict[str, object]:
    if isinstance(plugins, Mapping):
        return dict(plugins)
    named: dict[str, object] = {}
    for plugin in plugins:
        name = base = _name_of(plugin)
        number = 1
        while name in named:
            number += 1
            name = f"{base}-{number}"
        named[name] = plugin
    return named


def _name_of(plugin: object) -> str:
    """Return the name that a plugin would be installed under: ``pi_permission_gate`` is ``permission-gate``."""
    if isinstance(plugin, ModuleType):
        return plugin.__name__.rpartition(".")[2].removeprefix("pi_").replace("_", "-")
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", type(plugin).__name__)
    return "-".join(words).lower() or "plugin"
