"""The folder of results: the lines that are the checkpoint, and what is written when all is over."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pi_batch._record import Record, session_totals
from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, Self

    from pi_batch._tasks import Task

__all__ = ["Results"]

_PREFIX = "pi-batch-"


class Results:
    """The results of a batch, which one process at a time writes; ``with`` gives the folder free again.

    Args:
        out: The folder.
        tasks: All tasks.
        resume: Whether to go on with what is there.

    Attributes:
        records: The record of each completed task, by its id.
        scratch: An empty folder for attempts; what a killed process left in its own is removed.

    Raises:
        UserError: Another process writes there, or the results are there already, or are those of other tasks.
    """

    def __init__(self, out: Path, tasks: Sequence[Task], *, resume: bool) -> None:
        self._out = out
        self._tasks = tasks
        self._file = out / "results.jsonl"
        self.records: dict[str, Record] = {}
        for name in ("sessions", "patches"):
            (out / name).mkdir(parents=True, exist_ok=True)
        self._lock = self._take()
        try:
            self._read(resume=resume)
            self.scratch = self._make_scratch()
            self._lines = self._file.open("ab")
        except BaseException:
            self._lock.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()
        shutil.rmtree(self.scratch, ignore_errors=True)
        self._lock.close()

    def spent(self) -> float:
        """Return the dollars of all sessions, those of tasks that did not end included."""
        spent = 0.0
        for task in self._tasks:
            record = self.records.get(task.id)
            folder = self._out / "sessions" / task.file_name
            spent += record.dollars if record is not None else session_totals(folder)[1]
        return spent

    def add(self, record: Record) -> None:
        """Write a line; when this returns it is on the disk."""
        self._lines.write(record.as_line().encode())
        self._lines.flush()
        os.fsync(self._lines.fileno())
        self.records[record.id] = record

    def finish(self) -> None:
        """Sort the lines as the tasks are, and write the predictions."""
        records = [self.records[task.id] for task in self._tasks if task.id in self.records]
        with _replaced(self._file) as file:
            file.writelines(each.as_line().encode() for each in records)
        with _replaced(self._out / "predictions.jsonl") as file:
            file.writelines(self._prediction(each) for each in records)

    def _prediction(self, record: Record) -> bytes:
        patch = (self._out / record.patch).read_text("utf-8", "replace") if record.patch is not None else ""
        line = {"instance_id": record.id, "model_name_or_path": record.model or "", "model_patch": patch}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    def _take(self) -> IO[bytes]:
        lock = (self._out / ".lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            lock.close()
            message = f"Another pi batch writes to {str(self._out)!r}: wait for it, or name another folder with --out."
            raise UserError(message) from error
        return lock

    def _read(self, *, resume: bool) -> None:
        """Read the lines; a last one that a kill cut off is dropped, and its task runs again."""
        if not self._file.exists():
            return
        if not resume:
            message = f"There are results in {str(self._out)!r} already: go on with --resume, or name another --out."
            raise UserError(message)
        known = {task.id for task in self._tasks}
        with self._file.open("r+b") as file:
            end = 0
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                try:
                    record = Record.from_line(line)
                except ValueError as error:
                    raise UserError(f"Line {number} of {str(self._file)!r} cannot be read: {error}.") from error
                if record.id not in known:
                    message = (
                        f"The results in {str(self._out)!r} are those of other tasks: {record.id!r} is none of these."
                    )
                    raise UserError(message)
                self.records[record.id] = record
            file.truncate(end)

    def _make_scratch(self) -> Path:
        note = self._out / ".scratch"
        before = Path(note.read_text("utf-8")) if note.exists() else None
        if before is not None and before.name.startswith(_PREFIX) and before.parent == Path(tempfile.gettempdir()):
            shutil.rmtree(before, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=_PREFIX))
        note.write_text(str(scratch), "utf-8")
        return scratch


class _replaced:  # noqa: N801 - used as a function
    """A file that is written beside and takes the place of the old one when it is complete."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._new = file.with_name(f".{file.name}.new")

    def __enter__(self) -> IO[bytes]:
        self._stream = self._new.open("wb")
        return self._stream

    def __exit__(self, kind: object, *_: object) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        if kind is None:
            self._new.replace(self._file)
