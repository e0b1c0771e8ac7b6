"""Converts sessions between files and the database, byte for byte.

A session is converted whole or not at all, and the source is kept unless its removal is requested. A session that has
grown since an earlier conversion is continued; versions that differ in other ways are both kept.
"""

from __future__ import annotations

import io
import os
import re
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from attrs import evolve, frozen

from pi_session_kit.folders import make_folder
from pi_session_kit.header import header_of
from pi_session_kit.lines import NoSession, read_lines
from pi_session_sqlite import rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from pi_hookspecs.entries import SessionHeader

__all__ = ["Converted", "from_file", "remove_file", "remove_row", "remove_unfinished", "to_file"]

Done: TypeAlias = Literal["converted", "continued", "already there", "left"]


_UNFINISHED = re.compile(r"\..+\.jsonl\.\d+\.new")


@frozen(kw_only=True)
class Converted:
    """The outcome for a session.

    Attributes:
        source: The file, or the reference in the database.
        target: The reference or the file that was written; empty if the source was skipped.
        done: What was done; every value but ``left`` means that the target contains the whole source.
        why: The reason why it was skipped.
        data: The content of the source.
    """

    source: str
    target: str = ""
    done: Done
    why: str = ""
    data: bytes = b""


# To the database


def from_file(database: sqlite3.Connection, path: Path, root: Path) -> Converted:
    """Store a session file in the database, in one transaction.

    Args:
        database: The database.
        path: The file.
        root: The folder of sessions; the file's relative path is stored, too.

    Raises:
        OSError: The file cannot be read.
        sqlite3.Error: The session cannot be stored.
    """
    data, modified = path.read_bytes(), path.stat().st_mtime_ns
    try:
        lines = read_lines(data)
    except NoSession as error:
        return Converted(source=str(path), done="left", why=f"it is not a session: {error}")
    place = _place_of(path, root)
    with rows.transaction(database):
        row, stored = _stored(database, lines.header["id"], place, data)
        if row is None:
            done: Done = "converted"
            name = _free_name(database, lines.header["id"])
            number = rows.insert(database, name, lines.header, _parts(data), file=place, modified=modified)
        else:
            name, number = row.name, row.number
            if place is not None:
                rows.set_file(database, number, place)
            if stored.startswith(data):
                return Converted(source=str(path), target=name, done="already there", data=data)
            if not data.startswith(stored):
                why = f"the database has another version of it, {name!r}; both stay"
                return Converted(source=str(path), done="left", why=why)
            done = "continued"
            rows.add(database, number, _parts(data[len(stored) :]), modified)
        if rows.content(database, number) != data:
            raise OSError(None, "It could not be read back unchanged from the database; nothing was stored", str(path))
    return Converted(source=str(path), target=name, done=done, data=data)


def remove_file(converted: Converted) -> str | None:
    """Delete a converted file; return the reason if it is kept.

    Raises:
        OSError: It cannot be deleted.
    """
    path = Path(converted.source)
    with path.open("r+b") as file, _locked(file.fileno()) as is_free:
        if not is_free:
            return "another process has it open"
        if file.read() != converted.data:
            return "it has changed since"
        path.unlink()
    return None


def _stored(
    database: sqlite3.Connection, session: str, place: bytes | None, data: bytes
) -> tuple[rows.Row | None, bytes]:
    """Return the row of a session that the database already contains, and its lines.

    It is the row of the same file, or one with the same id but without a file, if one is a prefix of the other.
    """
    row = None if place is None else rows.row_of_file(database, place)
    if row is not None:
        return row, rows.content(database, row.number)
    row = rows.row_of(database, session)
    if row is not None and row.file is None:
        stored = rows.content(database, row.number)
        if stored.startswith(data) or data.startswith(stored):
            return row, stored
    return None, b""


def _free_name(database: sqlite3.Connection, session: str) -> str:
    """Return the reference of a new session: its id, with a number added if several files have that id."""
    name = first = rows.plain(session) or "none"
    number = 1
    while rows.row_of(database, name) is not None:
        number += 1
        name = f"{first}~{number}"
    return name


def _parts(data: bytes) -> list[bytes]:
    """Return the lines, with their line ends."""
    return io.BytesIO(data).readlines()


# To files


def to_file(
    database: sqlite3.Connection, row: rows.Row, root: Path, file_of: Callable[[SessionHeader], Path]
) -> Converted:
    """Write a session of the database to the file that it came from, or to a new one.

    Args:
        database: The database.
        row: The session.
        root: The folder of sessions.
        file_of: Returns the path for a session with a given header.

    Raises:
        OSError: The file cannot be written; none is left behind.
        sqlite3.Error: The session cannot be read.
    """
    data = rows.content(database, row.number)
    try:
        header = header_of(read_lines(data))
    except NoSession as error:
        return Converted(source=row.name, done="left", why=f"it is not a session: {error}")
    path = _own_place(row, root)
    if path is not None:
        return _written(row, data, path)
    for path in _places(header, file_of):
        place = _place_of(path, root)
        if place is not None and rows.row_of_file(database, place) is not None:
            continue  # the file of another session with this id
        done = _written(row, data, path)
        if done.done != "left":
            break
    if place is not None:
        with rows.transaction(database):
            rows.set_file(database, row.number, place)
    return done


def remove_unfinished(root: Path) -> list[Path]:
    """Delete incomplete files of killed conversions, and return them."""
    removed = []
    for path in root.rglob(".*.jsonl.*.new"):
        if _UNFINISHED.fullmatch(path.name) is None or not path.is_file():
            continue
        with suppress(OSError), path.open("r+b") as file, _locked(file.fileno()) as is_free:
            if is_free:
                path.unlink()
                removed.append(path)
    return removed


def remove_row(database: sqlite3.Connection, converted: Converted) -> str | None:
    """Delete a converted session from the database; return the reason if it is kept."""
    with rows.transaction(database):
        row = rows.row_of(database, converted.source)
        if row is None:
            return None
        if rows.content(database, row.number) != converted.data:
            return "it has changed since"
        rows.delete(database, row.number)
    return None


def _places(header: SessionHeader, file_of: Callable[[SessionHeader], Path]) -> Iterator[Path]:
    """Yield possible files for a session: the one that pi would choose, then alternatives next to it."""
    safe = re.sub(r"[^A-Za-z0-9._~-]", "-", header.id).lstrip(".")[:100] or "none"
    stamp = re.sub(r"[^A-Za-z0-9._~-]", "-", header.timestamp)
    path = file_of(evolve(header, id=safe, timestamp=stamp, cwd=header.cwd or "/"))
    yield path
    for number in count(2):
        yield path.with_name(f"{path.stem}~{number}{path.suffix}")


def _place_of(path: Path, root: Path) -> bytes | None:
    """Return a file's path relative to the folder of sessions; None if it is outside."""
    return os.fsencode(path.relative_to(root)) if path.is_relative_to(root) else None


def _own_place(row: rows.Row, root: Path) -> Path | None:
    """Return the file that a session came from; None without one, or if it is outside the folder of sessions."""
    if row.file is None:
        return None
    place = Path(os.fsdecode(row.file))
    inside = not place.is_absolute() and ".." not in place.parts and place.suffix == ".jsonl"
    return root / place if inside else None


def _written(row: rows.Row, data: bytes, path: Path) -> Converted:
    """Write a session to a new file, or append what an existing file lacks."""
    try:
        _create(path, data, row.modified)
        return Converted(source=row.name, target=str(path), done="converted", data=data)
    except FileExistsError:
        pass
    if path.read_bytes().startswith(data):
        return Converted(source=row.name, target=str(path), done="already there", data=data)
    with path.open("r+b") as file, _locked(file.fileno()) as is_free:
        stored = file.read()
        if not data.startswith(stored):
            why = f"{str(path)!r} has another version of it; both stay"
            return Converted(source=row.name, done="left", why=why)
        if not is_free:
            raise OSError(None, "Another process has it open; end that one first", str(path))
        file.write(data[len(stored) :])
        file.flush()
        os.fsync(file.fileno())
    return Converted(source=row.name, target=str(path), done="continued", data=data)


def _create(path: Path, data: bytes, modified: int) -> None:
    """Write a new file atomically, readable only by its owner.

    Raises:
        FileExistsError: The file exists.
    """
    if path.exists():
        raise FileExistsError(path)
    make_folder(path.parent)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(fd, "wb") as file, _locked(fd):  # noqa: PTH123 - of a descriptor
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.utime(new, ns=(modified, modified))
            try:
                os.link(new, path)
            except FileExistsError:
                raise
            except OSError:  # a file system without hard links
                new.rename(path)
    finally:
        with suppress(OSError):
            new.unlink()


@contextmanager
def _locked(fd: int) -> Iterator[bool]:
    """Take the lock with which the file store detects other processes; yields False if another process has it."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield True
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        yield False
    except OSError:  # a file system without locks
        yield True
    else:
        yield True  # released with the file
