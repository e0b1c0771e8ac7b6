"""The record of a restore that is being made, so that one that is killed can be finished, or reversed.

Only the process that holds the lock restores; a journal without a lock belongs to a process that was killed. When the
files are restored, the record stays until the session has its entry, without which the restore could not be undone.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import frozen

from pi_core import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Journal", "Record", "has_journals"]

_NAME = "restoring.json"
_DONE = "restored-"


@frozen
class Record:
    """A restore.

    Attributes:
        before: The checkpoint of the previous files.
        tree: The checkpoint that is restored.
        session: The session that restores it; empty if that is not known.
        entry: The prompt to which the user goes back; empty for an undo.
        undone: The checkpoint that was restored by what this undoes; empty if it undoes nothing.
    """

    before: str
    tree: str
    session: str = ""
    entry: str = ""
    undone: str = ""


class Journal:
    """The records in one store.

    Args:
        store: The folder of the store.
    """

    def __init__(self, store: Path) -> None:
        self._store = store
        self._file = store / _NAME

    @contextmanager
    def lock(self, *, wait: bool) -> Iterator[bool]:
        """Hold the lock; yield False if another process holds it and it is not to be waited for."""
        try:
            import fcntl
        except ImportError:  # without it, two processes must not restore the same work tree at once
            yield True
            return
        descriptor = os.open(self._store / "restoring.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
            else:
                yield True
        finally:
            os.close(descriptor)

    def begin(self, record: Record) -> None:
        """Write the record before the first file is changed."""
        _write(self._file, record)

    def end(self, record: Record) -> None:
        """The files are restored: keep the record for its session."""
        if record.session:
            _write(self._store / f"{_DONE}{record.session}.json", record)
        self._file.unlink(missing_ok=True)

    def abandon(self) -> None:
        """Nothing is changed any more."""
        self._file.unlink(missing_ok=True)

    def pending(self) -> Record | None:
        """Return the record of a restore that has begun and not ended; None without one."""
        return _read(self._file)

    def unrecorded(self, session: str) -> Record | None:
        """Return a restore of a session for which it has no entry yet; None without one."""
        return _read(self._store / f"{_DONE}{session}.json")

    def recorded(self, session: str) -> None:
        """The session has its entry."""
        (self._store / f"{_DONE}{session}.json").unlink(missing_ok=True)


def has_journals(folder: Path, session: str) -> bool:
    """Whether any store below a folder has the record of a killed restore, or one of this session."""
    return any(next(folder.glob(f"*/{name}"), None) is not None for name in (_NAME, f"{_DONE}{session}.json"))


def _write(file: Path, record: Record) -> None:
    data = {
        "before": record.before,
        "tree": record.tree,
        "session": record.session,
        "entry": record.entry,
        "undone": record.undone,
        "at": int(time.time()),
    }
    replace_file(file, json.dumps(data).encode())


def _read(file: Path) -> Record | None:
    try:
        noted = json.loads(file.read_text(encoding="utf-8"))
        return Record(
            str(noted["before"]),
            str(noted["tree"]),
            str(noted.get("session", "")),
            str(noted.get("entry", "")),
            str(noted.get("undone", "")),
        )
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):  # killed while it was written: nothing had been changed
        with suppress(OSError):
            file.unlink()
        return None
