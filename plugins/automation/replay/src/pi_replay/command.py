"""``pi replay``: its options, its output and its exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from pi_core import check_output_file, clean_text, run_until_signal, write_output_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost
    from pi_replay.compare import Row
    from pi_replay.matrix import Outcome
    from pi_replay.session import Wanted

__all__ = ["run"]

_AT_ONCE = 4  # replays of a matrix

_HELP = """Send the prompts of a stored session to a new one, and compare.

SESSION is a file, an id, or the beginning of an id; several need --matrix. Tools do not run: calls are
answered with the recorded results, up to the first call that was not recorded.
Exit code 1: the replay diverged or failed."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi replay``; return the exit code: 1 for a replay that diverged or failed.

    Raises:
        PiError: The session cannot be read or replayed, or the model cannot be used.
        click.UsageError: The arguments are wrong.
    """
    return int(_command(host).main(arguments, prog_name="pi replay", standalone_mode=False) or 0)


def _command(host: PluginHost) -> click.Command:
    def callback(**given: object) -> int:
        return _run(host, **given)  # type: ignore[arg-type] # click has checked them

    return click.Command(
        "replay",
        callback=callback,
        help=_HELP,
        params=[
            click.Argument(["sessions"], metavar="SESSION...", nargs=-1, required=True),
            click.Option(
                ["--model"], metavar="MODEL", help="The model for all prompts; by default those of the session"
            ),
            click.Option(
                ["--disable"], metavar="PLUGIN", multiple=True, help="Do not load this plugin; may be repeated"
            ),
            click.Option(["--until"], metavar="ENTRY", help="The last entry to replay, by its id"),
            click.Option(
                ["--tools"],
                type=click.Choice(["recorded", "live-in-worktree"]),
                default="recorded",
                show_default=True,
                help="Answer calls from the recording, or run them in a git worktree",
            ),
            click.Option(["--at", "commit"], metavar="COMMIT", help="The commit of the worktree; HEAD by default"),
            click.Option(
                ["--matrix"],
                metavar="MODELS x SETS",
                help="Replay with each of several models and plugin sets: 'MODEL, MODEL x all, -PLUGIN'",
            ),
            click.Option(
                ["--concurrency"], type=click.IntRange(min=1), help="Replays of a matrix at once, by default 4"
            ),
            click.Option(
                ["--html"],
                type=click.Path(dir_okay=False, writable=True, path_type=Path),
                help="Also write the comparison to this file, as a page",
            ),
            click.Option(["--json", "as_json"], is_flag=True, help="Print the comparison as JSON"),
        ],
    )


def _run(
    host: PluginHost,
    *,
    sessions: tuple[str, ...],
    model: str | None,
    disable: tuple[str, ...],
    until: str | None,
    tools: str,
    commit: str | None,
    matrix: str | None,
    concurrency: int | None,
    html: Path | None,
    as_json: bool,
) -> int:
    live = tools == "live-in-worktree"
    if commit is not None and not live:
        raise click.UsageError("--at selects the commit of the worktree, and needs --tools live-in-worktree")
    if html is not None:
        check_output_file("--html", html)
    from pi_replay.html import page
    from pi_replay.matrix import Cell, Outcome
    from pi_replay.session import Wanted, replay
    from pi_replay.show import show

    shared = Wanted(session="", model=model, disable=disable, until=until, live=live, commit=commit or "HEAD")
    all_wanted = [evolve(shared, session=each) for each in dict.fromkeys(sessions)]
    if matrix is not None:
        return _run_matrix(matrix, all_wanted, host, concurrency or _AT_ONCE, html, as_json=as_json)
    if len(all_wanted) > 1:
        raise click.UsageError("Several sessions need --matrix, for example --matrix recorded")
    if concurrency is not None:
        raise click.UsageError("--concurrency is the number of replays that run at once, and needs --matrix")
    report = replay(all_wanted[0], host, bool if as_json else _progress)
    if as_json:
        _print(report.as_json())
    else:
        show(report)
    if html is not None:
        cell = Cell(model, tuple(disable))
        outcome = Outcome(cell, report.as_json(), session=sessions[0], prompts=len(report.rows))
        write_output_file(html, page([outcome]).encode())
    return int(report.divergence is not None or report.error is not None)


def _run_matrix(
    text: str, all_wanted: Sequence[Wanted], host: PluginHost, at_once: int, html: Path | None, *, as_json: bool
) -> int:
    from pi_replay.html import page
    from pi_replay.matrix import InvalidMatrix, Matrix, replay_all
    from pi_replay.session import check
    from pi_replay.show import show_matrix

    if all_wanted[0].model is not None:
        raise click.UsageError("--model and --matrix cannot be used together: the matrix names its models")
    if all_wanted[0].until is not None and len(all_wanted) > 1:
        raise click.UsageError("--until is an entry of one session, and there are several")
    try:
        matrix = Matrix.parse(text)
    except InvalidMatrix as error:
        raise click.BadParameter(str(error), param_hint="--matrix") from error
    models = [each for each in matrix.models if each is not None]
    prompts = {each: check(each, host, models, matrix.disabled) for each in all_wanted}
    outcomes = run_until_signal(replay_all(matrix, prompts, host, at_once, _matrix_progress))
    if as_json:
        found = [_session_json(each.session, count, outcomes) for each, count in prompts.items()]
        _print(found if len(found) > 1 else found[0])
    else:
        show_matrix(outcomes)
    if html is not None:
        write_output_file(html, page(outcomes).encode())
    return int(not all(each.is_equal for each in outcomes))


def _session_json(session: str, prompts: int, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    replays = [each.as_json() for each in outcomes if each.session == session]
    return {"session": session, "prompts": prompts, "replays": replays}


def _print(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _matrix_progress(outcome: Outcome) -> None:
    """Report the stderr of pi; on a terminal also the end of each replay."""
    name = " x ".join(outcome.cell.names)
    lines = outcome.stderr.splitlines() if outcome.error is None else []
    if sys.stderr.isatty():
        lines.append("no divergence" if outcome.is_equal else "diverged or failed")
    sys.stderr.write("".join(f"{name}: {clean_text(line)}\n" for line in lines))


def _progress(row: Row) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"prompt {row.number}: {len(row.calls)} calls\n")
