"""Runs one task: attempts in separate folders, each a ``pi`` process, then the check; engines call ``run_one``."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from secrets import token_hex
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from pi_batch.place import make_place
from pi_batch.record import Record, session_totals
from pi_core import error_text
from pi_hookspecs import PiError, UserError
from pi_process_kit import PiAnswer, StopTasks, pi_events, run_pi, run_shell

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pi_batch.limits import Limits
    from pi_batch.place import Place
    from pi_batch.tasks import Task

__all__ = ["DiskFull", "Setup", "lost_record", "run_one"]

_BUDGET = 4  # pi's exit code where a budget is used up
_ROOM = 1 << 20  # bytes that a disk has to have free


class DiskFull(StopTasks):
    """A disk is full, so that sessions and patches are not complete: the task has to run again."""


@frozen(kw_only=True)
class Setup:
    """The configuration that all tasks share.

    Attributes:
        out: The folder of results.
        scratch: The parent folder of the attempts.
        arguments: Options of ``pi``.
        model: The model for tasks that name none; None for the one in the settings.
        retries: How often a failed attempt is repeated.
        timeout: Seconds for pi, and for the check.
        environ: Variables for ``pi`` in addition to the task process's own.
    """

    out: Path
    scratch: Path
    arguments: tuple[str, ...] = ()
    model: str | None = None
    retries: int = 2
    timeout: float = 3600.0
    environ: Mapping[str, str] = field(factory=dict)


async def run_one(task: Task, setup: Setup, limits: Limits) -> Record:
    """Run a task until an attempt succeeds or none is left; the record of a failed task has an ``error``.

    Raises:
        StopTasks: The budget is used up; the task has to run again with a larger one.
        DiskFull: There is no room for the task.
    """
    record, began = Record(id=task.id), time.monotonic()
    for record.attempts in range(1, setup.retries + 2):
        if await limits.exhausted():
            raise StopTasks
        await limits.wait(_provider(task, setup))
        if (full := _full_disk(setup)) is not None:
            raise full
        is_final = await _attempt(task, setup, limits, record)
        if record.error is None:
            record.status = "done"
            await limits.succeeded(_provider(task, setup))
        if record.error is None or is_final:
            break
    record.seconds = round(time.monotonic() - began, 3)
    await _read_sessions(record, task, setup)
    return record


async def _attempt(task: Task, setup: Setup, limits: Limits, record: Record) -> bool:
    """Make an attempt, whose findings go into the record; return whether another one would find the same."""
    folder = setup.scratch / token_hex(4)
    attempt = _Attempt(task, setup, limits, record)
    try:
        await attempt.run(folder)
    except UserError as error:
        record.error = str(error)
        return True
    except (PiError, OSError) as error:
        record.error = str(error)
    finally:
        full = _full_disk(setup)  # pi answers without a session where it cannot write one
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    if full is not None:
        raise full
    return attempt.was_cut and record.error is not None  # the next one would reach the same limit


def _full_disk(setup: Setup) -> DiskFull | None:
    for each in (setup.out, setup.scratch):
        if shutil.disk_usage(each).free < _ROOM:
            return DiskFull(f"The disk of {str(each)!r} is full.")
    return None


async def lost_record(task: Task, setup: Setup, error: str) -> Record:
    """Return the record of a task that was lost and cannot report its outcome."""
    record = Record(id=task.id, error=error)
    await _read_sessions(record, task, setup)
    return record


async def _read_sessions(record: Record, task: Task, setup: Setup) -> None:
    sessions = setup.out / "sessions" / task.file_name
    record.usage, record.dollars = await asyncio.to_thread(session_totals, sessions)
    if files := sorted(sessions.glob(f"*{record.session or ''}.jsonl")):  # by name: the clock may have been set back
        record.session = str(files[-1].relative_to(setup.out))


def _provider(task: Task, setup: Setup) -> str:
    return (task.model or setup.model or "").partition("/")[0]


@define(eq=False)
class _Attempt:
    """One attempt; its findings go into the record."""

    task: Task
    setup: Setup
    limits: Limits
    record: Record
    answers: int = 0
    was_cut: bool = False

    async def run(self, folder: Path) -> None:
        """Run pi, keep its changes, and check them."""
        self.record.error, self.record.answer, self.record.patch, self.record.session = None, "", None, None
        await asyncio.to_thread(folder.mkdir, 0o700)
        place = await make_place(self.task, folder)
        await self._ask(place.work)
        if self.was_cut or self.record.error is None:
            await self._keep(place)
        if self.record.error is None:
            await self._check(place.work)

    async def _ask(self, work: Path) -> None:
        end = await run_pi(
            self._arguments(),
            self._read,
            cwd=work,
            purpose="batch",
            prompt=self.task.prompt,
            environ={**os.environ, **self.setup.environ},
            timeout=self.setup.timeout,
        )
        if end.code == _BUDGET:
            raise StopTasks
        if end.timed_out:
            self.record.error = f"pi was ended after {self.setup.timeout:g} seconds (--timeout)"
        elif self.record.error is None:
            self.record.error = end.error or (None if self.answers else "no request was made")

    def _arguments(self) -> list[str]:
        sessions = self.setup.out / "sessions" / self.task.file_name
        model = self.task.model or self.setup.model
        arguments = ["--mode", "json", "--session-dir", str(sessions)]
        arguments += ["--model", model] if model is not None else []
        arguments += [part for each in self.task.plugins for part in ("--extension", each)]
        return [*arguments, *self.setup.arguments]

    async def _read(self, stream: asyncio.StreamReader) -> None:
        async for event in pi_events(stream, "session", "message_end", "auto_retry_start"):
            if event["type"] == "session":
                self.record.session = event["id"]
            elif event["type"] == "auto_retry_start":
                await self.limits.delayed(_provider(self.task, self.setup), event.get("delayMs", 0) / 1000)
            elif (answer := PiAnswer.of(event)) is not None:
                await self._take(answer)

    async def _take(self, answer: PiAnswer) -> None:
        self.answers += 1
        self.was_cut = answer.stop_reason == "length"
        self.record.answer, self.record.model = answer.text, answer.model
        self.record.error = answer.error and error_text(answer.error).sentences
        await self.limits.spend(answer.dollars)
        if answer.stop_reason == "toolUse" and await self.limits.exhausted():
            raise StopTasks  # it would ask again

    async def _keep(self, place: Place) -> None:
        if patch := await place.patch():
            file = self.setup.out / "patches" / f"{self.task.file_name}.diff"
            await asyncio.to_thread(file.write_bytes, patch)
            self.record.patch = str(file.relative_to(self.setup.out))

    async def _check(self, work: Path) -> None:
        if self.task.check is not None:
            code, _ = await run_shell(self.task.check, work, purpose="batch", timeout=self.setup.timeout)
            self.record.score = code == 0
