"""Files of versions 1 and 2: written once as version 3, with the original kept beside them."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_session_jsonl._entries import StoredEntries
from pi_session_jsonl._lines import VERSION, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_session_jsonl._lines import Lines

__all__ = ["backup_of", "migrated", "replace_with"]


def migrated(lines: Lines) -> bytes:
    """Return a file of an older version as one of today's; a line that needs no change keeps its bytes."""
    return b"\n".join(_migrated_lines(lines)) + b"\n"


def replace_with(path: Path, data: bytes, expected: int, version: int) -> Path:
    """Put new content in the place of a file, at once, and keep the old one beside it.

    Args:
        path: The file.
        data: What shall be in it.
        expected: The size that the file must still have, in bytes: what others appended meanwhile is not lost.
        version: The old content's version, for the backup's name.

    Returns:
        Where the old content is.

    Raises:
        OSError: It could not be done; the file is as it was.
    """
    from shutil import copymode

    path = path.resolve()  # a link stays one
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    backup: Path | None = None
    try:
        with new.open("xb") as file:
            copymode(path, new)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.stat().st_size != expected:
            raise BlockingIOError(errno.EBUSY, "It was written to meanwhile", str(path))
        backup = _keep(path, version)
        new.replace(path)
    except OSError:
        for made in filter(None, (new, backup)):
            with suppress(OSError):
                made.unlink()
        raise
    return backup


def backup_of(path: Path, version: int) -> Path:
    """Return the name under which the original of a migrated file is kept; no listing shows it."""
    return path.with_name(f"{path.name}.v{version}.bak")


def _keep(path: Path, version: int) -> Path:
    backup = backup_of(path, version)
    number = 1
    while backup.exists():
        number += 1
        backup = backup_of(path, version).with_suffix(f".bak{number}")
    try:
        os.link(path, backup)
    except OSError:  # a file system without hard links
        from shutil import copy2

        copy2(path, backup)
    return backup


def _migrated_lines(lines: Lines) -> Iterator[bytes]:
    from pi_core.wire import dumps

    yield dumps({**lines.header, "version": VERSION})
    entries = StoredEntries(lines)
    kept = {damage.start for damage in lines.damage if damage.start > lines.header_start}
    numbers = {start: number for number, start in enumerate(lines.starts)}
    torn = () if lines.torn is None else (lines.torn,)
    for start in sorted((*numbers, *kept, *torn)):
        raw = lines.raw(start)
        try:
            plain = entries.plain(numbers[start])
            unchanged = parse_line(raw) == plain
        except (KeyError, ValueError):  # damaged, and shown as such: not ours to remove
            yield raw
            continue
        yield raw if unchanged else dumps(plain)
