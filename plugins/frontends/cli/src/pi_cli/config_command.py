"""``pi config``: shows the settings, where each is set, and the possible settings; changes them without an editor."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, Literal

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.report import print_json, print_lines, say, warn
from pi_cli.words import one_line
from pi_core.settings.values import MISSING, leaves, look_up, merge, name_of, put, steps_of
from pi_hookspecs import UnknownName, UserError
from pi_hookspecs.secrets import is_secret_name
from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core import PluginHost, Settings

__all__ = ["run_config"]

_USAGE = """\
Usage: pi config [-l] [--json]
       pi config on|off NAME ... [-l]
       pi config list [--all] [--json]
       pi config get KEY
       pi config set KEY VALUE [--project]
       pi config unset KEY [--project]
       pi config schema

Without a subcommand, list plugins, and the extensions, skills, prompts and
themes of packages, with whether they are enabled; at a terminal they can be
switched on and off there.

on, off  Enable or disable them by name.
list     Print every value that is set and where: a file and its line, or an
         environment variable. With --all, the defaults of the others as well.
get      Print the effective value; for an object, all its values.
set      Write a value: text as it is, anything else as JSON.
unset    Remove a value from the file.
schema   Print the JSON schema of settings.json.

KEY is written with dots: retry.maxRetries; a name that contains a dot is
quoted: compaction.modelOverrides."acme/one.5".reserveTokens.

  -l, --project  Use .pi/settings.json of this folder, not the user's file
  --all        Include settings that are not set
  --json       Print a list of objects
  -h, --help   Print this help and exit

Precedence, highest first: command line, environment variables,
.pi/settings.json of a trusted folder, the user's file. 'pi help settings' lists
the settings.
"""

_NEGATIVE = re.compile(r"-[\d.]\S*")


def run_config(arguments: Sequence[str], host: PluginHost) -> int:
    """Run the command that the arguments name and return the exit code.

    Raises:
        PiError: The command failed.
    """
    params = parse_strictly(_command(), _numbers_last(arguments))
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    action, *words = params["words"] or ("",)
    if action in ("", "on", "off"):
        return _choose(host, params, action, words)
    if action not in _ACTIONS:
        raise UnknownName("command of pi config", action, _ACTIONS, "pi config --help lists them")
    run, taken, options = _ACTIONS[action]
    if len(words) != len(taken):
        raise UserError(f"pi config {action} takes {' and '.join(taken) or 'no argument'}, not {len(words)} words")
    for option in ("project", "all", "json"):
        if params[option] and option not in options:
            raise UserError(f"--{option} is not an option of pi config {action}")
    run(host, params, *words)
    if action in ("list", "get"):
        for problem in (*host.settings.problems, host.settings.project_trust.notice):
            if problem is not None:
                warn(problem)
    return 0


def _choose(host: PluginHost, params: dict[str, Any], action: str, names: Sequence[str]) -> int:
    from pi_cli.config_choice import choose, switch

    scope: Literal["project", "global"] = "project" if params["project"] else "global"
    if not action:
        choose(host, scope, as_json=params["json"])
    elif not names:
        raise UserError(
            f"pi config {action} needs the name of a plugin, or of a part of a package. pi config lists them"
        )
    else:
        switch(host, names, scope, on=action == "on")
    return 0


def _command() -> click.Command:
    return click.Command(
        "pi config",
        params=[
            click.Option(["-l", "--project"], is_flag=True),
            click.Option(["--all"], is_flag=True),
            click.Option(["--json"], is_flag=True),
            *common_options(),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )


def _numbers_last(arguments: Sequence[str]) -> list[str]:
    """Return the arguments such that ``-1`` is not parsed as an option: the last word is always a value."""
    numbers = [each for each in arguments if _NEGATIVE.fullmatch(each)]
    if not numbers or "--" in arguments:
        return [*arguments]
    return [*(each for each in arguments if each not in numbers), "--", *numbers]


def _schema(host: PluginHost, _params: dict[str, Any]) -> None:
    print_json(host.settings.known.json_schema)


# Showing


def _list(host: PluginHost, params: dict[str, Any]) -> None:
    settings = host.settings
    rows = [*_set(settings), *(_unset_ones(settings) if params["all"] else ())]
    if params["json"]:
        print_json(rows)
        return
    cells = [(one_line(row["name"]), _written(row["value"]), row["origin"] or "default") for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)] if cells else []
    for name, value, origin in cells:
        print_lines(f"{_padded(name, widths[0])}  {_padded(value, min(widths[1], 40))}  {origin}")
    if not rows:
        say("No setting is set; --all lists all settings.")


def _set(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield everything that is set, and report invalid values."""
    known = settings.known
    for name in settings.all().keys() - known.json_schema["properties"].keys() - {"$schema"}:
        warn(f"{name!r} is not a setting of pi or of an installed plugin ({settings.place((name,))})")
    for steps, value in leaves(settings.all()):
        problem = known.problem_with(steps, value)
        if problem is not None:
            warn(f"{problem.removesuffix('.')} ({settings.place(steps)})")
        hidden = isinstance(value, str) and is_secret_name(steps[-1]) and known.find(steps) is None
        yield {"name": name_of(steps), "value": "(hidden)" if hidden else value, "origin": settings.place(steps)}


def _unset_ones(settings: Settings) -> Iterator[dict[str, Any]]:
    everything = settings.all()
    for each in settings.known:
        if "*" not in each.steps and look_up(everything, each.steps) is MISSING:
            yield {"name": each.name, "value": each.default, "origin": None}


def _get(host: PluginHost, _params: dict[str, Any], key: str) -> None:
    settings, steps = host.settings, steps_of(key)
    value, known = settings.get(steps), settings.known.find(steps)
    below = _defaults_below(settings, steps)
    if value is None and known is not None:
        value = known.default
    elif below and isinstance(value, dict | None):
        value = merge(below, value or {})
    if value is None and known is None:
        raise UnknownName("setting", key, [each.name for each in settings.known], "pi config list --all lists them")
    if value is None:
        raise UserError(f"Setting {key!r} is not set, and has no default")
    print_lines(*(value if isinstance(value, str) else _written(value)).split("\n"))


def _defaults_below(settings: Settings, steps: Sequence[str]) -> dict[str, Any]:
    """Return the defaults of the settings below a name as one object; empty if there are none."""
    found: dict[str, Any] = {}
    for each in settings.known:
        inside = each.steps[: len(steps)] == (*steps,) and len(each.steps) > len(steps) and "*" not in each.steps
        if inside and each.default is not None:
            put(found, each.steps[len(steps) :], each.default)
    return found


def _written(value: Any) -> str:
    return "-" if value is None else one_line(json.dumps(value, ensure_ascii=False, default=repr))


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


# Changing


def _change(host: PluginHost, params: dict[str, Any], key: str, text: str) -> None:
    settings, steps, scope = host.settings, steps_of(key), _scope(params)
    value, known = _meant(settings, steps, text), settings.known.find(steps)
    if known is not None and known.kind.startswith("a list") and isinstance(value, str):
        example = json.dumps([each.strip() for each in text.split(",")], ensure_ascii=False)
        raise UserError(f"Setting {key!r} must be {known.kind}, not {text!r}. As JSON that is '{example}'")
    if known is None:
        nearest = UnknownName("setting", key, [each.name for each in settings.known]).nearest
        if nearest:
            warn(f"{key!r} is not a setting of pi or a plugin. Did you mean {' or '.join(nearest)}?")
    settings.set(steps, value, scope)
    if scope == "project" and not settings.project_trust.is_trusted:
        warn(f"{settings.project_trust.cwd} is not trusted, so its settings are not used. Run pi trust")
    elif settings.get(steps) != value:
        warn(f"{settings.place(steps)} sets {_written(settings.get(steps))}, which takes precedence")


def _meant(settings: Settings, steps: Sequence[str], text: str) -> Any:
    """Return the text itself if it is valid for a known setting or is not JSON, else the text parsed as JSON."""
    known = settings.known.find(steps)
    if known is not None and known.is_typed and settings.known.problem_with(steps, text) is None:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _remove(host: PluginHost, params: dict[str, Any], key: str) -> None:
    if not host.settings.unset(steps_of(key), _scope(params)):
        raise UserError(f"Setting {key!r} is not set in the {_scope(params)} settings")


def _scope(params: dict[str, Any]) -> Literal["global", "project"]:
    return "project" if params["project"] else "global"


_ACTIONS: dict[str, tuple[Callable[..., None], tuple[str, ...], tuple[str, ...]]] = {
    "list": (_list, (), ("all", "json")),
    "get": (_get, ("KEY",), ()),
    "set": (_change, ("KEY", "VALUE"), ("project",)),
    "unset": (_remove, ("KEY",), ("project",)),
    "schema": (_schema, (), ()),
}
"""The function, the positional arguments and the options of each command."""
