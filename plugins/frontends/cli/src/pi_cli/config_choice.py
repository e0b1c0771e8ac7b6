"""``pi config`` without arguments: lets the user enable and disable plugins and the resources of packages."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_cli.report import print_json, print_lines
from pi_core.base.paths import home_dir
from pi_core.host.package_resources import package_resources
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.values import Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core.host import PluginHost
    from pi_core.settings.sources import Scope

__all__ = ["choose", "switch"]

_KINDS = ("extensions", "skills", "prompts", "themes")
_DONE = "Done"


@frozen(kw_only=True, eq=False, repr=False)
class _Part(Value):
    """A plugin, or a file or folder that a package offers.

    Attributes:
        kind: ``plugin``, or ``extensions``, ``skills`` and so on.
        name: A plugin's name, or a path from the package's folder.
        source: The distribution, or the package as the settings name it.
        is_on: Whether it is enabled.
        scope: The settings that name the package, ``global`` or ``project``; ``global`` for plugins.
    """

    kind: str
    name: str
    source: str
    is_on: bool
    scope: str

    def line(self) -> str:
        return f"{'on ' if self.is_on else 'off'}  {self.kind:10}  {self.name}  ({self.source})"


def choose(host: PluginHost, scope: Scope, *, as_json: bool) -> None:
    """List everything that can be switched; at a terminal let the user switch it."""
    if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        asyncio.run(_ask(host, scope))
        return
    parts = list(_parts(host))
    if as_json:
        print_json([{"kind": each.kind, "name": each.name, "source": each.source, "on": each.is_on} for each in parts])
    else:
        print_lines(*(each.line() for each in parts))


def switch(host: PluginHost, names: Sequence[str], scope: Scope, *, on: bool) -> None:
    """Switch plugins, and parts of packages, on or off.

    Raises:
        UserError: The part does not exist, or the settings cannot be written.
    """
    for name in names:
        parts = list(_parts(host))
        found = [each for each in parts if each.name == name]
        if not found:
            raise UnknownName(
                "plugin or part of a package", name, [each.name for each in parts], "pi config lists them"
            )
        _write(host, found[0], scope, on=on)


async def _ask(host: PluginHost, scope: Scope) -> None:
    from pi_cli.line.dialogs import LineUI

    ui = LineUI()
    while True:
        parts = {each.line(): each for each in _parts(host)}
        chosen = await ui.select("Switch on or off", [*parts, _DONE])
        if chosen is None or chosen == _DONE:
            return
        _write(host, parts[chosen], scope, on=not parts[chosen].is_on)


def _parts(host: PluginHost) -> Iterator[_Part]:
    """Yield what can be switched: parts of packages, plugins of others, and then pi's own."""
    yield from _parts_of_packages(host)
    disabled = {*host.settings.get_str_list("plugins.disabled")}
    for name in sorted(host.records, key=lambda each: (host.is_default(each), each)):
        is_on = name not in disabled and name not in host.left_out
        distribution = host.records[name].distribution
        yield _Part(kind="plugin", name=name, source=distribution, is_on=is_on, scope="global")


def _parts_of_packages(host: PluginHost) -> Iterator[_Part]:
    cwd, home = str(Path.cwd()), str(home_dir(os.environ))
    for kind in _KINDS:
        for each in package_resources(host.settings, kind, cwd, home):
            root = Path(each.path).parent
            scope = "project" if each.scope == "project" else "global"
            for file in _files(Path(each.path)):
                is_on = each.picks is None or each.picks.includes(str(file))
                name = _named_path(file).relative_to(root).as_posix()
                yield _Part(kind=kind, name=name, source=each.source, is_on=is_on, scope=scope)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for each in sorted(path.iterdir()):
        inner = next((each / name for name in ("SKILL.md", "__init__.py") if (each / name).is_file()), None)
        if inner is not None:
            yield inner
        elif each.suffix in (".md", ".json", ".py"):
            yield each


def _named_path(file: Path) -> Path:
    return file.parent if file.name in ("SKILL.md", "__init__.py") else file


def _write(host: PluginHost, part: _Part, scope: Scope, *, on: bool) -> None:
    if part.kind == "plugin":
        _switch_plugin(host, part.name, scope, on=on)
    else:
        _switch_part(host, part, on=on)


def _switch_plugin(host: PluginHost, name: str, scope: Scope, *, on: bool) -> None:
    disabled = [each for each in host.settings.get_str_list("plugins.disabled") if each != name]
    if not on:
        disabled.append(name)
    host.settings.set("plugins.disabled", disabled, scope)


def _switch_part(host: PluginHost, part: _Part, *, on: bool) -> None:
    """Add a filter to the entry of a package, or remove it.

    Raises:
        UserError: The list does not name the package any more.
    """
    scope: Scope = "project" if part.scope == "project" else "global"
    entries = _entries(host, scope)
    for place, entry in enumerate(entries):
        options: dict[str, Any] = dict(entry) if isinstance(entry, dict) else {"source": entry}
        if options["source"] != part.source:
            continue
        filters = [each for each in options.get(part.kind) or () if each not in (f"-{part.name}", f"+{part.name}")]
        if not on:
            filters.append(f"-{part.name}")
        elif options.get(part.kind) == [] or any(not each.startswith("-") for each in filters):
            filters.append(part.name)  # a pattern: nothing else is enabled
        options = {key: value for key, value in options.items() if key != part.kind}
        entries[place] = {**options, part.kind: filters} if filters else options
        host.settings.set("packages", [_short(each) for each in entries], scope)
        return
    raise UserError(f"{part.source} is no longer in the list packages of the {scope} settings")


def _entries(host: PluginHost, scope: Scope) -> list[Any]:
    agent_dir = os.path.normpath(host.settings.agent_dir)
    for origin, value in host.settings.each("packages"):
        if (os.path.dirname(origin) == agent_dir) == (scope == "global"):  # noqa: PTH120 - a text
            return list(value)
    return []


def _short(entry: Any) -> Any:
    return entry["source"] if isinstance(entry, dict) and [*entry] == ["source"] else entry
