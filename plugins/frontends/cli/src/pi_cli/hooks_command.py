"""``pi hooks``: lists all hooks by stage, or shows one hook's specification and implementations."""

from __future__ import annotations

import sys
from inspect import getdoc, signature
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.extension_records import all_records
from pi_cli.report import print_lines, warn
from pi_hookspecs import OnFailure, UnknownName, UserError, answers_of
from pi_hookspecs.specs import all_hookspecs, spec_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core import PluginHost
    from pi_hookspecs import Answers

__all__ = ["run_hooks"]

_NAMES = 8
"""Maximum registrations of a plugin to list per hook; pi plugins lists all."""

_USAGE = """\
Usage: pi hooks [NAME]
       pi hooks fire NAME [--event FILE.json] [--plugin NAME] [--json]

List the hooks, with the number of plugins that implement each and the rule by
which their answers combine. Or describe one: its signature, rules and
documentation, and the plugins that implement it, in the order of their calls.

fire     Call one hook, and print what each plugin returned and changed, how long
         it took, and how the answers combine. The exit code is 1 when a plugin
         failed.

  --event FILE   The event as JSON, as in docs/events; without it, a sample
  --plugin NAME  Call only this plugin
  -e PATH        Include this extension; those of this folder are always included
  --json         Print an object
  -h, --help     Print this help and exit
"""

_FIRE_OPTIONS = ("event", "plugin", "json")


def run_hooks(arguments: Sequence[str], host: PluginHost) -> int:
    """Describe hooks on stdout.

    Raises:
        UnknownName: There is no hook of this name.
        UserError: The arguments are wrong.
    """
    params = parse_strictly(_command(), arguments)
    names: tuple[str, ...] = params["names"]
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    if names[:1] == ("fire",):
        return _fire(names[1:], params, host)
    given = [option for option in _FIRE_OPTIONS if params[option]]
    if given:
        message = f"--{given[0]} is an option of pi hooks fire"
        raise UserError(message)
    if len(names) > 1:
        message = f"pi hooks takes one name, not {len(names)}: {' '.join(names)}"
        raise UserError(message)
    lines = _one(names[0], host) if names else _all(host)
    print_lines(*lines)
    for problem in (*host.settings.problems, *host.problems):
        warn(problem)
    return 0


def _fire(names: tuple[str, ...], params: dict[str, Any], host: PluginHost) -> int:
    from pi_cli.hooks_fire import run_fire

    if len(names) != 1:
        message = f"pi hooks fire takes the name of one hook, not {len(names)}. pi hooks lists them"
        raise UserError(message)
    return run_fire(names[0], host, event=params["event"], plugin=params["plugin"], as_json=params["json"])


def _command() -> click.Command:
    return click.Command(
        "pi hooks",
        params=[
            click.Option(["--event"]),
            click.Option(["--plugin"]),
            click.Option(["--json"], is_flag=True),
            *common_options(),
            click.Argument(["names"], nargs=-1),
        ],
        add_help_option=False,
    )


# All


def _all(host: PluginHost) -> Iterator[str]:
    """List the hooks with the number of plugins that implement each; without importing installed plugins."""
    enabled = [record for record in all_records(host) if record.name not in host.disabled]
    specs = all_hookspecs()
    name_width = max(map(len, specs))
    for module in spec_modules():
        stage = module.__name__.rpartition(".")[2]
        yield stage if stage == "registration" else f"\n{stage}"
        for name, spec in specs.items():
            if spec.__module__ == module.__name__:
                number = sum(name in record.hooks or name in record.registers for record in enabled)
                plugins = f"{number} plugin{'s' if number > 1 else ''}" if number else "-"
                yield f"  {name:<{name_width}}  {plugins:<10}  {_rule(spec)}"


def _rule(spec: Callable[..., Any]) -> str:
    declared = answers_of(spec)
    return str(declared) if declared is not None else _documented(spec, "Answers").partition(";")[0]


def _documented(spec: Callable[..., Any], label: str) -> str:
    """Return the text of a labelled line of a specification's docstring."""
    lines = _docstring(spec).splitlines()
    return next((line.removeprefix(f"{label}: ") for line in lines if line.startswith(f"{label}: ")), "")


def _docstring(spec: Callable[..., Any]) -> str:
    """Return the docstring, with code in single backticks, as a terminal shows no markup."""
    return (getdoc(spec) or "").replace("``", "`")


# One


def _one(name: str, host: PluginHost) -> Iterator[str]:
    specs = all_hookspecs()
    if name not in specs:
        raise UnknownName("hook", name, specs, "pi hooks lists them")
    spec, declared = specs[name], answers_of(specs[name])
    parameters = ", ".join(f"{each.name}: {each.annotation}" for each in signature(spec).parameters.values())
    yield f"{name}({parameters}) -> {signature(spec).return_annotation}"
    yield ""
    yield from (f"  {label:<9} {text}" for label, text in _rules(spec, declared))
    yield ""
    yield indent(_docstring(spec), "  ")
    yield ""
    implementing = list(_registering(name, host) if declared is None else _answering(name, declared, host))
    yield "  Implemented by, in this order:" if implementing else "  No installed plugin implements it."
    yield from (f"    {number} {text}" for number, text in enumerate(implementing, 1))


def _rules(spec: Callable[..., Any], declared: Answers | None) -> Iterator[tuple[str, str]]:
    yield "answers", _rule(spec)
    if declared is None:
        yield "failure", _documented(spec, "On error")
        return
    refuses = declared.on_failure is OnFailure.REFUSE
    yield "failure", "refuse: a failure counts as a refusal" if refuses else "skip: reported, counts as no answer"
    yield "deadline", f"{declared.deadline.value:g} s for each plugin"


def _registering(name: str, host: PluginHost) -> Iterator[str]:
    if name == "activate":
        host.load_listeners()
        yield from (plugin for plugin, _ in host.activations())
        return
    for record in all_records(host):
        if record.name in host.disabled or not record.names(name):
            continue
        names = record.names(name)
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        yield f"{record.name}: {' '.join(names[:_NAMES])}{more}"


def _answering(name: str, declared: Answers, host: PluginHost) -> Iterator[str]:
    """Yield the implementations in a session's order, which requires loading the plugins."""
    host.load_listeners()
    for each in host.dispatcher(warn).implementations(name):
        own = f" (deadline {each.deadline:g} s)" if each.deadline != declared.deadline.value else ""
        yield f"{each.plugin}{own}"
