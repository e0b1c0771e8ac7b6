"""``pi plugins``: the installed plugins and the local extensions, what each adds, and its problems.

Installed ones are read from the index; none is imported.
"""

from __future__ import annotations

import os
import sys
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from pi_cli.click_line import common_options, parse_strictly
from pi_cli.extension_records import all_records
from pi_cli.hook_calls import calls_text, recall_calls
from pi_cli.report import print_json, print_lines, say, warn
from pi_cli.words import one_line
from pi_core.host.conditions import describe_condition
from pi_hookspecs import UserError, answers_of
from pi_hookspecs.specs import all_hookspecs
from pi_terminal_kit.words import width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_core import PluginHost, PluginRecord, Problem

__all__ = ["run_plugins"]

_ROOM = 36
"""Minimum columns for a plugin's additions next to its name."""

_USAGE = """\
Usage: pi plugins [--json]
       pi plugins --timing [--sort COLUMN] [--json]
       pi plugins bill [--session ID|--days N] [--sort COLUMN] [--json]
       pi plugins show NAME [--time] [--json]
       pi plugins retry NAME
       pi plugins check [NAME|PATH|WHEEL] [--strict] [--no-tests] [--against 1.4] [--json]

List the installed plugins: name and version, load time in milliseconds, the
distribution, what the plugin adds, and how often its hooks were called in the
last completed run, with the time they took; then the local extensions of this
folder. A line that begins with ! reports a problem, one with - a disabled
plugin.

show     Describe one plugin: its source, what it registers and which plugin
         wins where two register the same, the hooks it implements and its
         position in their order, settings, problems. The exit code is 1 when
         there are problems.

retry    Try again to load a plugin that failed to load, or that crashed pi while
         it was loaded; otherwise pi tries again when the plugin changes. The
         exit code is 1 when it cannot be loaded.

bill     Show what each plugin cost in completed sessions: import, hooks, tokens
         of prompt and tools, tool calls, requests outside the conversation with
         their cost, breaks of the prompt cache. The exit code is 1 when no
         session is recorded.

check    Check a plugin before it is published: metadata, code, import, hooks and
         tools, tests. It is an installed plugin, a folder with a pyproject.toml
         (this folder by default), a wheel or a Python file. Its code runs in
         separate processes. The exit code is 1 when there are errors.

  --timing     Start a session without a prompt, and show the time it took
  --session ID The bill of one session; the beginning of its id is enough
  --days N     The bill of the last N days
  --sort COL   Sort by this column, as --json names it
  --strict     Fail on warnings as well
  --against V  Compare with this version of the contract, or with a contract.json
  --no-tests   Do not run the plugin's own tests
  --time       Call each of its event hooks once with a sample event, and show
               the milliseconds; handlers added by activate(pi) are included
  -e PATH      Include this extension; those of this folder are always included
  --json       Print a list of objects; with show, one object
  -h, --help   Print this help and exit
"""


def run_plugins(arguments: Sequence[str], host: PluginHost) -> int:
    """List the plugins on stdout.

    Raises:
        UserError: The arguments are wrong.
    """
    params = parse_strictly(_command(), arguments)
    if params["help"]:
        sys.stdout.write(_USAGE)
        return 0
    words: tuple[str, ...] = params["words"]
    _refuse_strangers(params, words[0] if words else "")
    if words[:1] == ("check",):
        return _check(words[1:], params, host)
    if words == ("bill",) or params["timing"]:
        return _bill(params, host)
    if words[:1] == ("show",):
        return _show(words[1:], params, host)
    if words[:1] == ("retry",):
        return _retry(words[1:], host)
    if words:
        message = f"pi plugins takes no argument, not {words[0]!r}; pi plugins show NAME describes one plugin"
        raise UserError(message)
    return _list(params, host)


_OPTIONS = {
    "time": "show",
    "strict": "check",
    "against": "check",
    "no-tests": "check",
    "session": "bill",
    "days": "bill",
}
"""Options that only one command accepts."""


def _refuse_strangers(params: dict[str, Any], word: str) -> None:
    for option, command in _OPTIONS.items():
        if params[option.replace("-", "_")] and word != command:
            raise UserError(f"--{option} is an option of pi plugins {command}")
    if params["timing"] and word:
        raise UserError(f"--timing is an option of pi plugins alone, not of pi plugins {word}")
    if params["sort"] and word != "bill" and not params["timing"]:
        raise UserError("--sort requires pi plugins bill or pi plugins --timing")


def _list(params: dict[str, Any], host: PluginHost) -> int:
    records = list(all_records(host))
    last_run = recall_calls(host)
    rows = [{**_plain(record, records, host), "lastRun": last_run.get(record.name)} for record in records]
    if params["json"]:
        print_json(rows)
    else:
        print_lines(*_table(rows))
    for problem in (*host.settings.problems, *host.problems):
        if getattr(problem, "plugin", None) not in {record.name for record in records}:
            warn(problem)
    return 0


def _retry(names: tuple[str, ...], host: PluginHost) -> int:
    if len(names) != 1:
        message = f"pi plugins retry takes the name of one plugin, not {len(names)}. pi plugins lists them"
        raise UserError(message)
    if names[0] in host.disabled:
        raise UserError(f"Plugin {names[0]!r} is disabled. pi config list shows where")
    record = host.look_again(names[0])
    for problem in _problems(record, host):
        warn(problem)
    if record.loads:
        say(f"Plugin {record.name!r} was loaded")
    return 0 if record.loads else 1


def _show(names: tuple[str, ...], params: dict[str, Any], host: PluginHost) -> int:
    from pi_cli.plugins_show import show_plugin

    if len(names) != 1:
        message = f"pi plugins show takes the name of one plugin, not {len(names)}. pi plugins lists them"
        raise UserError(message)
    return show_plugin(names[0], host, timed=params["time"], as_json=params["json"])


def _check(words: tuple[str, ...], params: dict[str, Any], host: PluginHost) -> int:
    from pi_cli.checking.command import check_plugin

    if len(words) > 1:
        raise UserError(f"pi plugins check takes one plugin, not {len(words)}")
    subject = words[0] if words else "."
    return check_plugin(
        subject,
        host,
        strict=params["strict"],
        with_tests=not params["no_tests"],
        against=params["against"],
        as_json=params["json"],
    )


def _bill(params: dict[str, Any], host: PluginHost) -> int:
    from pi_cli.bill.command import show_bill, show_timing

    sort, as_json = params["sort"], params["json"]
    if params["timing"]:
        return show_timing(host, sort=sort, as_json=as_json)
    return show_bill(host, session=params["session"], days=params["days"], sort=sort, as_json=as_json)


def _command() -> click.Command:
    return click.Command(
        "pi plugins",
        params=[
            click.Option(["--time"], is_flag=True),
            click.Option(["--json"], is_flag=True),
            click.Option(["--strict"], is_flag=True),
            click.Option(["--no-tests"], is_flag=True),
            *(click.Option([f"--{name}"]) for name in ("against", "session", "days", "sort")),
            click.Option(["--timing"], is_flag=True),
            *common_options(),
            click.Argument(["words"], nargs=-1),
        ],
        add_help_option=False,
    )


# As data


def _plain(record: PluginRecord, records: Sequence[PluginRecord], host: PluginHost) -> dict[str, Any]:
    """Return a plugin as ``--json`` prints it."""
    enabled = record.name not in host.disabled
    return {
        "name": record.name,
        "distribution": record.distribution,
        "version": record.version,
        "enabled": enabled,
        **({"leftOut": host.left_out[record.name]} if record.name in host.left_out else {}),
        "loads": record.loads,
        "waitsFor": describe_condition(record.when) if not host.is_wanted(record) else None,
        "hooks": [{"name": hook, "answers": _rule(hook)} for hook in record.hooks],
        "registers": {hook.removeprefix("register_"): record.names(hook) for hook in record.registers},
        "hidden": list(_hidden(record, records, host)) if enabled else [],
        "loadMs": record.load_ms if record.indexed else None,
        "problems": [{"step": each.step, "message": each.message} for each in _problems(record, host)],
    }


def _rule(hook: str) -> str:
    declared = answers_of(all_hookspecs()[hook])
    return str(declared) if declared is not None else "notify"


def _hidden(record: PluginRecord, records: Sequence[PluginRecord], host: PluginHost) -> Iterator[dict[str, str]]:
    """Yield registrations that are hidden by another plugin's of the same name."""
    for hook in record.registers:
        for name in record.names(hook):
            same = [each.name for each in records if each.name not in host.disabled and name in each.names(hook)]
            by = host.choice(hook, name, same)
            if by != record.name:
                yield {"kind": hook.removeprefix("register_"), "name": name, "by": by}


def _problems(record: PluginRecord, host: PluginHost) -> list[Problem]:
    return list(dict.fromkeys([*record.problems, *(each for each in host.problems if each.plugin == record.name)]))


# As a table


def _table(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines: a head for each plugin, and next to it, where there is room, its additions."""
    if not rows:
        yield "No plugins are installed."
        return
    cells = [_head(row) for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    indent = 2 + sum(widths) + 2 * len(widths)
    columns = _columns()
    side_by_side = columns - indent >= _ROOM
    if not side_by_side:
        indent = 6
    for row, head in zip(rows, cells, strict=True):
        name, time, distribution = (
            text + " " * (width - width_of(text)) for text, width in zip(head, widths, strict=True)
        )
        sign = "!" if row["problems"] else " " if row["enabled"] else "-"
        line = f"{sign} {name}  {time}  {distribution}  "
        texts = [line for text in _texts(row) for line in wrap(text, columns - indent, break_on_hyphens=False)]
        yield f"{line}{texts.pop(0) if side_by_side else ''}".rstrip()
        yield from (f"{' ' * indent}{text}" for text in texts)


def _head(row: dict[str, Any]) -> tuple[str, str, str]:
    loaded = row["enabled"] and row["loads"] and row["loadMs"] is not None
    time = f"{row['loadMs']:4.0f} ms" if loaded else ""
    return one_line(f"{row['name']} {row['version']}"), time, one_line(row["distribution"])


def _columns() -> int:
    """Return the width of the table; output to a pipe is not wrapped."""
    try:
        return max(os.get_terminal_size(sys.stdout.fileno()).columns, _ROOM)
    except (OSError, ValueError):
        return 100_000


_MOST_SETTINGS = 8
"""More settings of one plugin are listed by the first part of their names."""


def _groups(names: Iterable[str]) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.partition(".")[0], []).append(name)
    for group, among in groups.items():
        yield f"{group}.* ({len(among)})" if len(among) > 1 else among[0]


def _texts(row: dict[str, Any]) -> Iterator[str]:
    """Yield a plugin's additions, and below them its problems."""
    if not row["enabled"]:
        yield f"not loaded: {one_line(row['leftOut'])}" if "leftOut" in row else "disabled"
        return
    hidden = {(each["kind"], each["name"]): each["by"] for each in row["hidden"]}
    additions = []
    for kind, names in row["registers"].items():
        labels = (f"{name} (hidden by {by})" if (by := hidden.get((kind, name))) else name for name in names)
        shown = _groups(names) if kind == "settings" and len(names) > _MOST_SETTINGS else labels
        additions.append(one_line(f"{_heading(kind, len(names))} {' '.join(shown)}"))
    if row["hooks"]:
        hooks = ", ".join(f"{each['name']} ({each['answers']})" for each in row["hooks"])
        additions.append(f"{_heading('hooks', len(row['hooks']))} {hooks}")
    if additions:
        yield "; ".join(additions)
    if row["waitsFor"]:
        yield f"its hooks are not loaded: there is no {one_line(row['waitsFor'])}"
    yield from (
        one_line(each["message"] if each["step"] == "import" else f"{each['step']}: {each['message']}")
        for each in row["problems"]
    )
    if row["lastRun"]:
        yield f"last run: {calls_text(row['lastRun'])}"
    if not additions and not row["problems"]:
        yield "adds nothing"


def _heading(kind: str, number: int) -> str:
    """Return a kind in singular or plural: ``tool``, ``session stores``."""
    words = kind.replace("_", " ")
    return words.removesuffix("s") if number == 1 and words != "models" else words
