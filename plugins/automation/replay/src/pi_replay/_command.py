"""``pi replay``: its options, its output and its exit code."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pi_core import PluginHost
    from pi_replay._compare import Row

__all__ = ["run"]

_HELP = """Send the prompts of a stored session to a new one, and compare.

SESSION is a file, an id, or the beginning of an id. Tools do not run: calls are
answered with the recorded results, up to the first call that was not recorded.
Exit code 1: the replay diverged or failed."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi replay``; return the exit code: 1 for a replay that diverged or failed, 2 for wrong use.

    Raises:
        PiError: The session cannot be read or replayed, or the model cannot be used.
    """
    try:
        result = _command(host).main(arguments, prog_name="pi replay", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    return int(result or 0)


def _command(host: PluginHost) -> click.Command:
    def callback(**given: object) -> int:
        return _run(host, **given)  # type: ignore[arg-type] # click has checked them

    return click.Command(
        "replay",
        callback=callback,
        help=_HELP,
        params=[
            click.Argument(["session"]),
            click.Option(["--model"], metavar="MODEL", help="The model for all prompts; else those of the session"),
            click.Option(["--disable"], metavar="PLUGIN", multiple=True, help="Leave a plugin out; may be repeated"),
            click.Option(["--until"], metavar="ENTRY", help="The last entry to replay, by its id"),
            click.Option(
                ["--tools"],
                type=click.Choice(["recorded", "live-in-worktree"]),
                default="recorded",
                show_default=True,
                help="Answer calls from the recording, or run them in a git worktree",
            ),
            click.Option(
                ["--at", "commit"], metavar="COMMIT", help="What the worktree begins with; HEAD when not given"
            ),
            click.Option(["--json", "as_json"], is_flag=True, help="Print the comparison as JSON"),
        ],
    )


def _run(
    host: PluginHost,
    *,
    session: str,
    model: str | None,
    disable: tuple[str, ...],
    until: str | None,
    tools: str,
    commit: str | None,
    as_json: bool,
) -> int:
    live = tools == "live-in-worktree"
    if commit is not None and not live:
        raise click.UsageError("--at says what the worktree of --tools live-in-worktree begins with")
    from pi_replay._session import Wanted, replay
    from pi_replay._show import show

    wanted = Wanted(session=session, model=model, disable=disable, until=until, live=live, commit=commit or "HEAD")
    report = replay(wanted, host, bool if as_json else _progress)
    if as_json:
        sys.stdout.write(json.dumps(report.as_json(), indent=2, ensure_ascii=False) + "\n")
    else:
        show(report)
    return int(report.divergence is not None or report.error is not None)


def _progress(row: Row) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"prompt {row.number}: {len(row.calls)} calls\n")
