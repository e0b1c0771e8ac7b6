"""The command line of `pi review`, and its exit code."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pi_core import UsageLimits
from pi_hookspecs import UsageLimitExceeded
from pi_review.diff import git_diff, parse
from pi_review.findings import Result, Severity
from pi_review.formats import FORMATS
from pi_review.reviewer import review

if TYPE_CHECKING:
    from pi_core import PluginHost

__all__ = ["run"]

LIMIT = 4  # pi's exit code where a limit was reached
HELP = """Review the commits of REVISIONS, such as main...HEAD, or else a diff on standard input, or else the
uncommitted changes of this folder. The model can read the repository and nothing else.

Exit code 1: there are findings of the severity --fail-on. 2: wrong usage. 4: a limit was reached."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run the subcommand; return the exit code."""
    kinds, bars = click.Choice([*FORMATS]), click.Choice([*(each.value for each in Severity), "never"])
    cost, count, more = click.FloatRange(min=0, min_open=True), click.IntRange(min=1), "Also write a file; repeatable"
    options = [
        click.Argument(["revisions"], required=False),
        click.Option(["--model"], metavar="MODEL", help="The model; by default that of the settings"),
        click.Option(["--format", "form"], type=kinds, default="text", show_default=True),
        click.Option(["--output"], type=(kinds, click.Path(path_type=Path)), multiple=True, help=more),
        click.Option(["--fail-on"], type=bars, default="error", show_default=True),
        click.Option(["--max-cost"], type=cost, help="Dollars for all requests"),
        click.Option(["--max-requests"], type=count, default=30, show_default=True, help="Requests for 150 kB of diff"),
    ]
    command = click.Command("review", params=options, help=HELP, callback=lambda **given: _review(host, **given))
    return int(command.main(arguments, prog_name="pi review", standalone_mode=False) or 0)


def _review(host: PluginHost, *, revisions: str | None, form: str, **given: Any) -> int:
    bar = None if given["fail_on"] == "never" else Severity(given["fail_on"])
    result = asyncio.run(_collect(host, _diff(revisions), bar, given))
    for name, file in given["output"]:
        file.write_text(FORMATS[name](result), encoding="utf-8")
    click.echo(FORMATS[form](result), nl=False)
    return LIMIT if result.problem else int(any(map(result.fails, result.findings)))


async def _collect(host: PluginHost, diff: str, bar: Severity | None, given: dict[str, Any]) -> Result:
    result, changes = Result(bar), parse(diff)
    if not changes:
        sys.stderr.write("There is nothing to review: the diff has no changed lines of text files.\n")
    try:
        limits = UsageLimits(cost=given["max_cost"], requests=given["max_requests"])
        async for part, dollars in review(changes, host, given["model"], limits):
            result.add(part, dollars)
    except UsageLimitExceeded as error:
        result.problem = f"The review is not complete: {error}"
        sys.stderr.write(f"{result.problem}\n")
    return result


def _diff(revisions: str | None) -> str:
    if revisions is None and not sys.stdin.isatty():
        return sys.stdin.buffer.read().decode(errors="replace")
    return git_diff(revisions or "HEAD", Path.cwd())
