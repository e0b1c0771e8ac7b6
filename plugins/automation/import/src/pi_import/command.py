"""``pi import``: its options, its output and its exit code."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pi_core import ModelRegistry, Settings, clean_text, home_dir, one_line
from pi_hookspecs import PiError
from pi_import.agents import AGENTS, agent_of
from pi_import.models import Models
from pi_import.place import Place
from pi_import.steps import OUTCOMES, Step, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import PluginHost

__all__ = ["run"]

_HELP = """Import the setup of another agent: instructions, commands, agents,
skills, hooks, MCP servers, permissions, models, providers and sessions.

AGENT is one of claude, codex, opencode, gemini and aider. Your own files go to
your agent directory, those of the working directory to its .pi, if it is
trusted. pi overwrites nothing that you wrote, copies no key, and does not change
the other agent's files. Exit code 1: something could not be written."""

_ORDER: dict[str, int] = {name: number for number, name in enumerate(OUTCOMES)}
_MOST_ROWS = 12
"""Sessions that are listed by name."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi import`` and return the exit code.

    Raises:
        PiError: pi's own files cannot be read.
        click.UsageError: The arguments are wrong.
    """
    return int(_command(host).main(arguments, prog_name="pi import", standalone_mode=False) or 0)


def _command(host: PluginHost) -> click.Command:
    def callback(**given: Any) -> int:
        return _run(host, **given)

    return click.Command(
        "import",
        callback=callback,
        help=_HELP,
        params=[
            click.Argument(["agent"], type=click.Choice(list(AGENTS))),
            click.Option(["--dry-run"], is_flag=True, help="Report what would be done, and change nothing"),
            click.Option(
                ["--sessions", "which"],
                type=click.Choice(["here", "all", "none"]),
                default="here",
                show_default=True,
                help="Sessions to import: of this folder, all, or none",
            ),
            click.Option(["-a", "--approve"], is_flag=True, help="Trust the files of this folder for this run"),
            click.Option(["-y", "--yes"], is_flag=True, help="Write without asking"),
            click.Option(["--json", "as_json"], is_flag=True, help="Print the report as JSON"),
        ],
    )


def _run(
    host: PluginHost,
    *,
    agent: str,
    dry_run: bool,
    which: Literal["here", "all", "none"],
    approve: bool,
    yes: bool,
    as_json: bool,
) -> int:
    cwd = Path.cwd()
    trusted = approve or host.settings.project_trust.is_trusted
    steps = list(dict.fromkeys(_steps(agent, host, cwd, which, trusted=trusted)))  # two files may need one switch
    changes = [step for step in steps if step.apply is not None]  # in their order: the first rule that matches decides
    steps.sort(key=lambda step: (step.scope, _ORDER[step.outcome]))
    if not as_json:
        _print(_report(agent, steps, dry_run=dry_run))
    may_change = not dry_run and (not changes or yes or as_json or _is_confirmed(len(changes)))
    failed = _apply(changes) if may_change else []
    if may_change:
        places = ["user"] if any(step.scope == "user" for step in steps) else []
        places += [os.path.realpath(cwd)] if trusted and any(step.scope == "project" for step in steps) else []
        _remember(Path(host.settings.agent_dir), agent, places)
    if as_json:
        _print(json.dumps([_row(step, dict(failed).get(id(step))) for step in steps], indent=2))
    elif changes and may_change:
        _print(_end(changes, failed))
    for step_id, message in failed if not as_json else ():
        step = next(each for each in changes if id(each) == step_id)
        sys.stderr.write(clean_text(f"{step.kind} {one_line(step.name)}: {message}\n"))
    return int(bool(failed))


def _steps(agent: str, host: PluginHost, cwd: Path, which: str, *, trusted: bool) -> Iterator[Step]:
    module, home = agent_of(agent), home_dir()
    agent_dir = Path(host.settings.agent_dir)
    settings = Settings.load(cwd, agent_dir, trust=trusted)
    host.declare_settings(settings)
    places = [Place(scope="user", root=home, target=agent_dir, settings=settings)]
    if os.path.realpath(cwd) != os.path.realpath(home):
        if trusted:
            places.append(Place(scope="project", root=cwd, target=cwd / ".pi", settings=settings))
        else:
            yield from _untrusted(module.PROJECT, cwd)
    models = Models(ModelRegistry(host, host.settings, os.environ))
    for place in places:
        yield from module.steps(place, models)
        yield from place.problems
    if module.MCP is not None:
        from pi_import.servers import server_steps

        yield from server_steps(module.MCP, places, host)
    if which != "none" and (trusted or not module.PROJECT_SESSIONS):
        from pi_import.sessions.storing import session_steps

        found = module.sessions(home, cwd if which == "here" else None, dict(os.environ))
        yield from session_steps(found, host, home)


def _untrusted(names: tuple[str, ...], cwd: Path) -> Iterator[Step]:
    for name in names:
        if os.path.lexists(cwd / name):
            why = "this folder is not trusted: run pi trust first, or add --approve"
            yield left_out("setting", name, name, why, scope="project")


def _is_confirmed(number: int) -> bool:
    """Ask at a terminal; without one, the command itself is the request."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    sys.stderr.write(f"Make {'this change' if number == 1 else f'these {number} changes'}? [Y/n] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("", "y", "yes")


def _apply(changes: list[Step]) -> list[tuple[int, str]]:
    failed = []
    for step in changes:
        try:
            step.apply()  # type: ignore[misc] # those without were left out
        except (PiError, OSError) as error:
            failed.append((id(step), str(error)))
    return failed


def _remember(agent_dir: Path, agent: str, places: list[str]) -> None:
    """Record from where an agent's things were imported, ``user`` and folders of projects, for ``pi doctor``."""
    from pi_import.changes import ListItems

    if places:
        ListItems(agent_dir / "imports.json", (agent,), places).apply()


# Output


def _report(agent: str, steps: list[Step], *, dry_run: bool) -> str:
    if not steps:
        return f"There is nothing of {AGENTS[agent]} to import, neither in your home folder nor here."
    lines: list[str] = []
    for scope, title in (("user", "From your home folder"), ("project", "From this folder")):
        mine = [step for step in steps if step.scope == scope]
        if mine:
            lines += [f"{title}:", *_rows(mine), ""]
    counts = [f"{sum(step.outcome == each for step in steps)} {OUTCOMES[each]}" for each in OUTCOMES]
    would = "Nothing was changed (--dry-run): " if dry_run else ""
    return "\n".join([*lines, f"{would}{', '.join(counts)}."])


def _rows(steps: list[Step]) -> Iterator[str]:
    outcome = None
    sessions = 0
    for step in steps:
        if step.outcome != outcome:
            outcome, sessions = step.outcome, 0
            yield f"  {OUTCOMES[outcome]}"
        sessions += step.kind == "session"
        if step.kind == "session" and sessions > _MOST_ROWS:
            continue
        yield f"    {step.kind:<13} {one_line(step.name)}  ({one_line(step.source)})"
        if step.target and step.outcome in ("taken", "differently"):
            yield f"                  -> {one_line(step.target.replace(str(home_dir()), '~'))}"
        if step.why:
            yield f"                  {one_line(step.why)}"
    total = sum(step.kind == "session" for step in steps)
    if total > _MOST_ROWS:
        yield f"    {total} sessions in all; --json lists them"


def _end(changes: list[Step], failed: list[tuple[int, str]]) -> str:
    done = len(changes) - len(failed)
    parts = [f"{done} {'change' if done == 1 else 'changes'} made."]
    if any(step.kind == "session" for step in changes):
        parts.append("pi -r lists the sessions.")
    return " ".join(parts)


def _row(step: Step, error: str | None) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "name": step.name,
        "scope": step.scope,
        "source": step.source,
        "outcome": "not" if error else step.outcome,
        "why": error or step.why,
        "target": step.target,
    }


def _print(text: str) -> None:
    sys.stdout.write(f"{clean_text(text)}\n")
