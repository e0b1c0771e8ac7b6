"""``pi sessions search``: its options, its output and its exit code."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from pi_core import clean_text, one_line
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost
    from pi_session_sqlite.index import Hit

__all__ = ["run"]

_MANY = 100
"""Number of changed sessions above which progress is shown."""

_HELP = """Search the text of all stored sessions: messages, tool calls and results.

QUERY is words that an entry must contain, all of them, also within longer
words; "a phrase" in quotes; -word for entries without it. Case is ignored. The
best match is first.

Exit code 0: something was found. 1: nothing was. 2: invalid usage."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi sessions search``; return the exit code: 1 when nothing is found.

    Raises:
        UserError: The index cannot be used.
        click.UsageError: The arguments are wrong.
    """
    words = len(arguments) - arguments.index("--") - 1 if "--" in arguments else 0
    return int(_command(host, words).main(arguments, prog_name="pi sessions search", standalone_mode=False) or 0)


def _command(host: PluginHost, words: int) -> click.Command:
    """Return the command.

    Args:
        host: The plugins.
        words: How many of the arguments follow ``--``.
    """

    def callback(**given: object) -> int:
        return _run(host, words=words, **given)  # type: ignore[arg-type] # click has checked them

    return click.Command(
        "search",
        callback=callback,
        help=_HELP,
        # -word is a part of the query
        context_settings={"ignore_unknown_options": True},
        params=[
            click.Argument(["query"], nargs=-1, required=True, type=click.UNPROCESSED),
            click.Option(["--cwd"], metavar="DIR", help="Only sessions of this working directory"),
            click.Option(["--role"], metavar="ROLE", help="Only this role: user, assistant, toolResult, summary"),
            click.Option(["--tool"], metavar="NAME", help="Only calls and results of this tool"),
            click.Option(["--session-dir"], metavar="DIR", help="Only sessions in this folder"),
            click.Option(["--since"], metavar="WHEN", help="Only entries since a date, or of the last 7d, 12h, 2w"),
            click.Option(
                ["--limit"],
                type=click.IntRange(1, 500),
                default=20,
                show_default=True,
                help="Maximum number of results",
            ),
            click.Option(["--json", "as_json"], is_flag=True, help="Print a list of results as JSON"),
        ],
    )


def _run(
    host: PluginHost,
    *,
    words: int,
    query: tuple[str, ...],
    cwd: str | None,
    role: str | None,
    tool: str | None,
    session_dir: str | None,
    since: str | None,
    limit: int,
    as_json: bool,
) -> int:
    from pi_core import resolve_store
    from pi_session_sqlite.places import index_of
    from pi_session_sqlite.query import Filters, parse_query, parse_since

    literal = query[len(query) - words :]
    unknown = [each for each in query[: len(query) - words] if each.startswith("--")]
    if unknown:
        raise click.UsageError(
            f"No such option: {unknown[0]!r}. To search for a word that begins with dashes, quote it: '\"--word\"'"
        )
    try:
        quoted = [f'"{each}"' if each.startswith("-") and '"' not in each else each for each in literal]
        wanted = parse_query(_joined([*query[: len(query) - words], *quoted]))
        oldest = None if since is None else parse_since(since, datetime.now().astimezone())
    except UserError as error:
        raise click.UsageError(str(error)) from None
    folder = None if cwd is None else os.path.abspath(cwd)  # noqa: PTH100 - as in the headers of sessions
    chosen = resolve_store(session_dir=session_dir, host=host)
    index = index_of(chosen.store.name, chosen.place)
    try:
        index.update(_progress if sys.stderr.isatty() else None)
        sys.stderr.writelines(f"{notice}\n" for notice in index.notices)
        hits = index.search(wanted, Filters(cwd=folder, role=role, tool=tool, since=oldest), limit)
    finally:
        index.close()
    if as_json:
        sys.stdout.write(json.dumps([_plain(hit) for hit in hits], indent=2, ensure_ascii=sys.stdout.isatty()) + "\n")
    else:
        _show(hits)
    return int(not hits)


def _joined(query: Sequence[str]) -> str:
    """Join arguments to a query; an argument with spaces was a quoted phrase in the shell."""
    if len(query) == 1:
        return query[0]
    return " ".join(f'"{each}"' if " " in each and '"' not in each else each for each in query)


def _progress(done: int, total: int) -> None:
    if total > _MANY and done % 50 == 0:
        sys.stderr.write(f"\rReading sessions for the index: {done} of {total}\r")


def _plain(hit: Hit) -> dict[str, object]:
    return {
        "session": hit.session,
        "id": hit.id,
        "cwd": hit.cwd,
        "entry": hit.entry,
        "role": hit.role,
        "tool": hit.tool,
        "timestamp": hit.timestamp,
        "snippet": hit.snippet,
        "score": hit.score,
    }


def _show(hits: Sequence[Hit]) -> None:
    if not hits:
        sys.stdout.write("Nothing was found.\n")
    for hit in hits:
        tool = f" {hit.tool}" if hit.tool else ""
        sys.stdout.write(f"{one_line(f'{hit.when}  {hit.role}{tool}  {hit.cwd}')}\n")
        sys.stdout.write(f"  {one_line(hit.snippet)}\n")
        sys.stdout.write(f"  pi --session {clean_text(hit.id)}\n")
