"""The folder of results: the lines that serve as the checkpoint, and the files written at the end."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pi_batch.parquet import write_records
from pi_batch.record import Record, csv_lines, session_totals
from pi_core import replace_file
from pi_hookspecs import PiError, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import IO, Self

    from pi_batch.tasks import Task

__all__ = ["Results", "ResultsNotWritten"]

_PREFIX = "pi-batch-main-"  # as long as on nodes of Ray: prompts name the folder, and usage has their length
_NO_MODEL = "pi"  # of predictions for tasks that no model answered: SWE-bench names folders and its report by it


class ResultsNotWritten(PiError):
    """The folder of results cannot be written, because the disk is full, for example."""


class Results:
    """The results of a batch, written by one process at a time; leaving ``with`` unlocks the folder.

    Args:
        out: The folder.
        tasks: All tasks.
        resume: Whether to continue from existing results.
        clean: Returns a text without secrets.

    Attributes:
        records: The record of each completed task, by its id, without answer and usage, which stay in the file.
        failed: How many of them failed.
        scratch: An empty folder for attempts; the leftovers of a killed process are removed.

    Raises:
        UserError: Another process writes there, or there are results already, or results of other tasks.
        ResultsNotWritten: Nothing can be written there.
    """

    def __init__(self, out: Path, tasks: Sequence[Task], *, resume: bool, clean: Callable[[str], str] = str) -> None:
        self._out = out
        self._clean = clean
        self._tasks = tasks
        self._file = out / "results.jsonl"
        self.records: dict[str, Record] = {}
        self.failed = 0
        self._places: dict[str, tuple[int, int]] = {}  # of lines in the file: where they begin, and their bytes
        with self._writing():
            for name in ("sessions", "patches"):
                (out / name).mkdir(parents=True, exist_ok=True)
            self._lock = self._take()
        try:
            with self._writing():
                self._read(resume=resume)
                self.scratch = self._make_scratch()
                self._lines = self._file.open("ab", buffering=0)
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
        """Return the dollars of all sessions, including tasks that did not end."""
        spent = 0.0
        for task in self._tasks:
            record = self.records.get(task.id)
            folder = self._out / "sessions" / task.file_name
            spent += record.dollars if record is not None else session_totals(folder)[1]
        return spent

    def add(self, record: Record) -> None:
        """Write a line durably, without secrets: it is on disk when this returns.

        Raises:
            ResultsNotWritten: The disk is full, for example; the task has to run again.
        """
        record.answer = self._clean(record.answer)
        record.error = self._clean(record.error) if record.error is not None else None
        with self._writing():
            if record.patch is not None:
                _clean_patch(self._out / record.patch, self._clean)
            begin, line = self._lines.tell(), record.as_line().encode()
            written = 0
            while written < len(line):  # what is cut off by a failure is dropped by the next run
                written += self._lines.write(line[written:])
            os.fsync(self._lines.fileno())
        self._keep(record, begin, len(line))

    def _keep(self, record: Record, begin: int, size: int) -> None:
        """Keep what is needed of a record: the answers of 100,000 tasks do not fit into memory."""
        record.answer, record.usage = "", {}
        self.failed += record.status == "failed"
        self.records[record.id], self._places[record.id] = record, (begin, size)

    def finish(self, table: str = "jsonl") -> None:
        """Sort the lines in task order, and write the predictions and, for ``csv`` or ``parquet``, a table.

        Raises:
            ResultsNotWritten: The disk is full, for example; all records are still there.
        """
        ids = [task.id for task in self._tasks if task.id in self.records]
        with self._writing(), self._file.open("rb") as unsorted:
            replace_file(self._file, (self._line(unsorted, each) for each in ids))
            replace_file(self._out / "predictions.jsonl", (self._prediction(self.records[each]) for each in ids))
            whole = (Record.from_line(self._line(unsorted, each)) for each in ids)
            if table == "csv":
                replace_file(self._out / "results.csv", csv_lines(whole))
            elif table == "parquet":
                write_records(self._out / "results.parquet", whole)

    def _line(self, file: IO[bytes], id_: str) -> bytes:
        begin, size = self._places[id_]
        file.seek(begin)
        return file.read(size)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"The results cannot be written to {str(self._out)!r}: {error.strerror or error}."
            raise ResultsNotWritten(f"{what} When that is fixed, continue with --resume") from error

    def _prediction(self, record: Record) -> bytes:
        patch = (self._out / record.patch).read_text("utf-8", "replace") if record.patch is not None else ""
        model = record.model or _NO_MODEL
        line = {"instance_id": record.id, "model_name_or_path": model, "model_patch": patch}
        return json.dumps(line).encode() + b"\n"  # ASCII: SWE-bench reads it in the encoding of the locale

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
        """Read the lines; a last one that a kill truncated is dropped, and its task runs again."""
        if not self._file.exists() or not self._file.stat().st_size:
            return  # nothing was completed: Ray was not there, or it was interrupted at once
        if not resume:
            message = f"{str(self._out)!r} already has results: continue them with --resume, or choose another --out."
            raise UserError(message)
        known = {task.id for task in self._tasks}
        with self._file.open("r+b") as file:
            end = 0
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    record = Record.from_line(line)
                except ValueError as error:
                    message = f"Line {number} of {str(self._file)!r} cannot be read: {error}."
                    raise UserError(f"{message} Remove the line to run its task again.") from error
                if record.id not in known:
                    message = (
                        f"The results in {str(self._out)!r} are those of other tasks: {record.id!r} is none of these."
                    )
                    raise UserError(message)
                self._keep(record, end, len(line))
                end += len(line)
            file.truncate(end)

    def _make_scratch(self) -> Path:
        note = self._out / ".scratch"
        before = Path(note.read_text("utf-8")) if note.exists() else None
        if before is not None and before.name.startswith(_PREFIX) and before.parent == Path(tempfile.gettempdir()):
            shutil.rmtree(before, ignore_errors=True)
        scratch = Path(tempfile.mkdtemp(prefix=_PREFIX))
        note.write_text(str(scratch), "utf-8")
        return scratch


_ADDED = re.compile(rb"(?:^\+(?!\+\+ ).*(?:\n|\Z))+", re.MULTILINE)


def _clean_patch(file: Path, clean: Callable[[str], str]) -> None:
    """Remove secrets from the lines that a patch adds; the others stay, because the patch would no longer apply."""

    def cleaned(lines: re.Match[bytes]) -> bytes:
        text = "\n".join(line[1:] for line in lines[0].decode("utf-8", "surrogateescape").split("\n"))
        changed = clean(text)
        if changed == text:
            return lines[0]
        parts = changed.rstrip("\n").split("\n")
        parts += [""] * (
            text.rstrip("\n").count("\n") + 1 - len(parts)
        )  # of a secret of several lines: they are counted
        end = "\n" if text.endswith("\n") else ""
        return ("\n".join(f"+{line}" for line in parts) + end).encode("utf-8", "surrogateescape")

    patch = file.read_bytes()
    changed = _ADDED.sub(cleaned, patch)
    if changed != patch:
        file.write_bytes(changed)
