"""``pi sessions convert``: its options, what it prints, and its exit code."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pi_core import clean_text, one_line
from pi_hookspecs import UserError
from pi_session_sqlite import converting
from pi_session_sqlite import rows as _rows
from pi_session_sqlite.places import database_of, folder_of, folders_of
from pi_session_sqlite.session import forced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core import PluginHost
    from pi_session_sqlite.converting import Converted

__all__ = ["run"]

_HELP = """Copy sessions from files into the SQLite database, or back, byte for byte.

SESSION is a session file or the beginning of an id; without any, all sessions
are copied. The sources stay, unless --remove is given. The command can be
interrupted and repeated at any time: sessions that were copied before are
not copied again, and those that have grown since are completed.

To use the database: pi config set sessionStore sqlite

Exit code 0: all are there. 1: some are not, for the printed reasons. 2: invalid
usage."""


def run(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi sessions convert``; return the exit code: 1 if a session was not converted.

    Raises:
        UserError: There is no such session, or the database cannot be used.
        click.UsageError: The arguments are wrong.
    """
    command = click.Command(
        "convert",
        callback=partial(_run, host),
        help=_HELP,
        params=[
            click.Argument(["sessions"], nargs=-1, metavar="[SESSION ...]"),
            click.Option(["--to"], type=click.Choice(["sqlite", "jsonl"]), required=True, help="Where to copy them"),
            click.Option(["--remove"], is_flag=True, help="Delete each source once its copy is on the disk"),
        ],
    )
    return int(command.main(arguments, prog_name="pi sessions convert", standalone_mode=False) or 0)


def _run(host: PluginHost, *, sessions: tuple[str, ...], to: str, remove: bool) -> int:
    from pi_core import resolve_store

    files = resolve_store(host=host, name="jsonl")
    path = database_of(files.place)
    for left in converting.remove_unfinished(folder_of(files.place)):
        sys.stderr.write(f"{one_line(str(left))}: removed, because an interrupted conversion had not completed it\n")
    if to == "jsonl" and not path.exists():
        if sessions:
            raise UserError(f"There is no database of sessions {str(path)!r} that could contain {sessions[0]!r}")
        return _report([], remove=remove)
    work = _to_database if to == "sqlite" else _to_files
    try:
        with closing(_rows.open_sessions(path)) as database:
            return _report(work(database, files, sessions, path if remove else None), remove=remove)
    except sqlite3.Error as error:
        raise _rows.unusable(path, error) from error


def _to_database(
    database: sqlite3.Connection, files: Any, sessions: Sequence[str], removing: Path | None
) -> Iterator[tuple[Converted, str | None]]:
    root = folder_of(files.place)
    for path in _files(files, sessions):
        done = _tried(str(path), partial(converting.from_file, database, path, root))
        why = None
        if removing is not None and done.done != "left":
            forced(removing)
            why = _stays(partial(converting.remove_file, done))
        yield done, why


def _to_files(
    database: sqlite3.Connection, files: Any, sessions: Sequence[str], removing: Path | None
) -> Iterator[tuple[Converted, str | None]]:
    def file_of(header: Any) -> Path:
        return Path(files.store.create(header).file)

    root = folder_of(files.place)
    for row in _chosen(database, sessions):
        done = _tried(row.name, partial(converting.to_file, database, row, root, file_of))
        why = None
        if removing is not None and done.done != "left":
            why = _stays(partial(converting.remove_row, database, done))
        yield done, why


def _tried(source: str, work: Callable[[], Converted]) -> Converted:
    """Convert a session and return the outcome; on a file error it is skipped, and the next one is converted."""
    try:
        return work()
    except OSError as error:
        where = f" ({str(error.filename)!r})" if error.filename and str(error.filename) != source else ""
        return converting.Converted(source=source, done="left", why=f"{error.strerror or error}{where}")


def _stays(work: Callable[[], str | None]) -> str | None:
    try:
        return work()
    except OSError as error:
        return error.strerror or str(error)


def _files(files: Any, sessions: Sequence[str]) -> Iterator[Path]:
    """Yield the selected session files: all, or by path or id prefix."""
    from pi_core import find_by_prefix

    if not sessions:
        for folder in folders_of(files.place):
            yield from sorted(path for path in Path(folder).glob("*.jsonl") if path.is_file())
        return
    listed = None
    for each in sessions:
        if Path(each).is_file():
            yield Path(each).absolute()
            continue
        listed = files.store.list() if listed is None else listed
        yield Path(find_by_prefix(each, listed, str(Path.cwd())).path)


def _chosen(database: sqlite3.Connection, sessions: Sequence[str]) -> list[_rows.Row]:
    """Return the selected sessions of the database: all, or by prefix of their reference."""
    rows = [*_rows.rows(database)]
    if not sessions:
        return rows
    found = []
    for each in sessions:
        matching = [row for row in rows if row.name == each] or [row for row in rows if row.name.startswith(each)]
        if len(matching) != 1:
            what = "No session" if not matching else f"More than one session ({len(matching)})"
            raise UserError(
                f"{what} in the database begins with {each!r}. pi sessions list shows those of the store in use"
            )
        found += matching
    return found


def _report(done: Any, *, remove: bool) -> int:
    """Print the outcome for each session, and the totals; return the exit code."""
    counts: dict[str, int] = {}
    removed = failed = 0
    for each, stays in done:
        counts[each.done] = counts.get(each.done, 0) + 1
        if each.done == "left":
            failed += 1
            sys.stderr.write(f"{one_line(each.source)}: left, {one_line(each.why)}\n")
        elif stays is not None:
            failed += 1
            sys.stderr.write(f"{one_line(each.source)}: not removed, {one_line(stays)}\n")
        elif remove:
            removed += 1
        if each.done in ("converted", "continued"):
            sys.stdout.write(f"{clean_text(each.source)} -> {clean_text(each.target)}\n")
    parts = [f"{count} {name}" for name, count in counts.items()] + ([f"{removed} removed"] if remove else [])
    sys.stdout.write(f"{', '.join(parts) or 'There are no sessions to convert'}.\n")
    return int(bool(failed))
