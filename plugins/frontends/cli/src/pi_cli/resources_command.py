"""``pi resources``: the skills, templates, context files and themes of a session here, and those that they shadow."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import as_click, common_options, parse_strictly
from pi_cli.look import session_to_look_at
from pi_cli.option_table import prompt_options
from pi_cli.prompt_options import parsed_prompt_options
from pi_cli.report import print_json, print_lines
from pi_cli.words import one_line, shorten
from pi_hookspecs import UnknownName
from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_core import AgentSession, PluginHost
    from pi_hookspecs import Resource, ResourceSet

__all__ = ["run_resources"]

_USAGE = """\
Usage: pi resources [--json] [KIND ...]

List what pi found for a session in this folder: skills, prompt templates,
context files, themes, and what plugins add: each with its scope (this run, the
project, the user), how it was found, and its file; below it, indented, the
files of the same name that it hides.

  --json       Print a list of objects
  -h, --help   Print this help and exit

--skill, --no-skills, --prompt-template, --theme, --no-context-files and similar
options work as they do in a session.
"""

_TITLES = {
    "skill": "Skills",
    "prompt": "Prompt templates",
    "context": "Context files",
    "theme": "Themes",
    "system": "System prompt",
    "append-system": "Added to the system prompt",
}
"""The usual kinds, in the order in which they are listed."""
_SOURCES = {"auto": "", "settings": "settings", "cli": "command line", "sdk": "program"}
_LONGEST = 60


def run_resources(arguments: Sequence[str], host: PluginHost) -> int:
    """List the resources on stdout.

    Raises:
        UnknownName: There is no such kind.
        UserError: The arguments are wrong.
    """
    params = parse_strictly(_command(), arguments)
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    found = asyncio.run(_find(params, host))
    if params["json"]:
        rows = [row for each in found for row in _plain(each)]
        print_json(rows)
        return 0
    lines = [line for each in found if each.resources or each.shadowed for line in ("", *_block(each))]
    print_lines(*lines[1:] or ["There are no resources here."])
    return 0


def _command() -> click.Command:
    return click.Command(
        "pi resources",
        params=[
            *common_options(),
            *(as_click(option) for option in prompt_options()),
            click.Option(["--json"], is_flag=True),
            click.Argument(["kinds"], nargs=-1),
        ],
        add_help_option=False,
    )


async def _find(params: dict[str, Any], host: PluginHost) -> list[ResourceSet]:
    async with session_to_look_at(host, parsed_prompt_options(params)) as session:
        known = session.resources.kinds()
        kinds = [kind for kind in _TITLES if kind in known] + [kind for kind in known if kind not in _TITLES]
        for name in params["kinds"]:
            if name not in known:
                raise UnknownName("kind of resource", name, known, f"Use one of {', '.join(kinds)}")
        found = [await session.resources.load(kind) for kind in params["kinds"] or kinds]
        return [_with_plugins_themes(each, session) if each.kind == "theme" else each for each in found]


def _with_plugins_themes(found: ResourceSet, session: AgentSession) -> ResourceSet:
    """Return the themes with those that plugins registered as objects."""
    from attrs import evolve

    from pi_hookspecs import Resource

    registered = [
        Resource(kind="theme", name=name, path="", scope="user", source=f"plugin:{each.plugin}", base_dir="")
        for name, each in session.host.find_all("register_themes").items()
        if found.get(name) is None
    ]
    return evolve(found, resources=(*found.resources, *registered))


# As data


def _plain(found: ResourceSet) -> Iterator[dict[str, Any]]:
    for resource in found.resources:
        hidden = [each.resource for each in found.shadowed if each.by is resource]
        yield {**_plain_resource(resource), "shadows": [_plain_resource(each) for each in hidden]}


def _plain_resource(resource: Resource) -> dict[str, Any]:
    return {
        "kind": resource.kind,
        "name": resource.name,
        "description": resource.description,
        "path": resource.path,
        "scope": resource.scope,
        "source": resource.source,
        "origin": resource.origin,
        "baseDir": resource.base_dir,
    }


# As a table


def _block(found: ResourceSet) -> Iterator[str]:
    """Go through the lines of one kind."""
    yield f"{_TITLES.get(found.kind, found.kind.capitalize())} ({len(found.resources)})"
    names = ["" if each.name == each.path else one_line(each.name) for each in found.resources]
    name_width = max(map(width_of, names), default=0)
    whose_width = max((len(_scope_label(each)) for each in found.resources), default=0)
    for name, resource in zip(names, found.resources, strict=True):
        padded = f"{name}{' ' * (name_width - width_of(name))}  " if name_width else ""
        yield f"  {padded}{_scope_label(resource):<{whose_width}}  {one_line(resource.path)}".rstrip()
        if resource.description:
            yield f"      {shorten(one_line(resource.description), _LONGEST)}"
        for each in found.shadowed:
            if each.by is resource:
                yield f"      hides {_scope_label(each.resource)} {one_line(each.resource.path)}"


def _scope_label(resource: Resource) -> str:
    how = _SOURCES.get(resource.source, resource.source.replace(":", " ", 1))
    whose = "this run" if resource.scope == "temporary" else resource.scope
    return f"{whose}, {how}" if how else whose
