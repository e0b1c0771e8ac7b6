"""One task: attempts in folders of their own, each a ``pi`` process, then the check; engines call ``run_one``."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, frozen

from pi_batch._place import make_place, run_program
from pi_batch._record import Record, session_totals
from pi_hookspecs import PiError, UserError
from pi_hookspecs.service_values import SpawnRequest
from pi_process_kit import start_child

if TYPE_CHECKING:
    from pi_batch._limits import Limits
    from pi_batch._place import Place
    from pi_batch._tasks import Task

__all__ = ["Setup", "Stopped", "run_one"]

_TAIL = 2000  # characters of an error that are kept
_BUDGET = 4  # pi's exit code where a budget is used up
_EVENTS = (b'{"type":"message_end"', b'{"type":"auto_retry_start"')
_HEAD = max(map(len, _EVENTS))  # bytes that say whether a line is needed


class Stopped(Exception):
    """The budget is used up: the task is to be run again, with a larger one."""


@frozen(kw_only=True)
class Setup:
    """What is the same for all tasks.

    Attributes:
        out: The folder of results.
        scratch: The folder in which attempts get theirs.
        arguments: Options of ``pi``.
        model: The model of tasks that name none; None for that of the settings.
        retries: How often a failed attempt is repeated.
        timeout: Seconds for pi, and for the check.
    """

    out: Path
    scratch: Path
    arguments: tuple[str, ...] = ()
    model: str | None = None
    retries: int = 2
    timeout: float = 3600.0


async def run_one(task: Task, setup: Setup, limits: Limits) -> Record:
    """Run a task until an attempt succeeds or there are no more; a task that failed has an ``error``.

    Raises:
        Stopped: The budget is used up.
    """
    record, began = Record(id=task.id), time.monotonic()
    for record.attempts in range(1, setup.retries + 2):
        if limits.exhausted:
            raise Stopped
        await limits.wait(_provider(task, setup))
        folder = Path(await asyncio.to_thread(tempfile.mkdtemp, dir=setup.scratch))
        try:
            await _Attempt(task, setup, limits, record).run(folder)
        except UserError as error:
            record.error = str(error)
            break  # another attempt would find the same
        except (PiError, OSError) as error:
            record.error = str(error)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
        if record.error is None:
            record.status = "done"
            limits.succeeded(_provider(task, setup))
            break
    record.seconds = round(time.monotonic() - began, 3)
    sessions = setup.out / "sessions" / task.file_name
    record.usage, record.dollars = await asyncio.to_thread(session_totals, sessions)
    if files := sorted(sessions.glob("*.jsonl")):
        record.session = str(files[-1].relative_to(setup.out))
    return record


def _provider(task: Task, setup: Setup) -> str:
    return (task.model or setup.model or "").partition("/")[0]


@define(eq=False)
class _Attempt:
    """An attempt; what it finds out is in the record."""

    task: Task
    setup: Setup
    limits: Limits
    record: Record
    answers: int = 0

    async def run(self, folder: Path) -> None:
        """Ask pi, keep the changes, and check them."""
        self.record.error, self.record.answer, self.record.patch = None, "", None
        place = await make_place(self.task, folder)
        await self._ask(place.work)
        if self.record.error is None:
            await self._keep(place)
            await self._check(place.work)

    async def _ask(self, work: Path) -> None:
        request = SpawnRequest(argv=tuple(self._command()), cwd=str(work), env=dict(os.environ), purpose="batch")
        async with await start_child(request, timeout=self.setup.timeout) as pi:
            pi.stdin.write(self.task.prompt.encode())
            pi.stdin.close()
            assert pi.stderr is not None  # noqa: S101 - it is a pipe
            _, complaints = await asyncio.gather(self._read(pi.stdout), pi.stderr.read())
            code = await pi.wait()
        if code == _BUDGET:
            raise Stopped
        said = complaints.decode(errors="replace")[-_TAIL:].strip()
        if pi.timed_out:
            self.record.error = f"pi was ended after {self.setup.timeout:g} seconds (--timeout)"
        elif code and self.record.error is None:
            self.record.error = f"pi ended with {code}: {said}" if said else f"pi ended with {code}"
        elif not self.answers:
            self.record.error = "the model was not asked"

    def _command(self) -> list[str]:
        sessions = self.setup.out / "sessions" / self.task.file_name
        command = [sys.executable, "-P", "-m", "pi_cli", "--mode", "json", "--session-dir", str(sessions)]
        model = self.task.model or self.setup.model
        command += ["--model", model] if model is not None else []
        command += [part for each in self.task.plugins for part in ("--extension", each)]
        return [*command, *self.setup.arguments]

    async def _read(self, stream: asyncio.StreamReader) -> None:
        """Read lines of any length; only the beginning of one that is not needed is kept."""
        line = bytearray()
        while piece := await stream.read(1 << 16):
            *ends, rest = piece.split(b"\n")
            for end in ends:
                self._event(bytes(line) + end)
                line.clear()
            if len(line) < _HEAD or line.startswith(_EVENTS):
                line += rest

    def _event(self, line: bytes) -> None:
        if not line.startswith(_EVENTS):
            return
        event = json.loads(line)
        if event["type"] == "auto_retry_start":
            self.limits.delayed(_provider(self.task, self.setup), event.get("delayMs", 0) / 1000)
        elif event.get("message", {}).get("role") == "assistant":
            self._answer(event["message"])

    def _answer(self, message: dict[str, Any]) -> None:
        self.answers += 1
        self.limits.spent += message.get("usage", {}).get("cost", {}).get("total", 0.0)
        blocks = message.get("content", [])
        self.record.answer = "\n".join(each["text"] for each in blocks if each.get("type") == "text")
        self.record.model = f"{message.get('provider')}/{message.get('model')}"
        failed = message.get("stopReason") in ("error", "aborted")
        self.record.error = message.get("errorMessage") or "the prompt was aborted" if failed else None
        if self.limits.exhausted and message.get("stopReason") == "toolUse":
            raise Stopped  # it would ask again

    async def _keep(self, place: Place) -> None:
        if patch := await place.patch():
            file = self.setup.out / "patches" / f"{self.task.file_name}.diff"
            await asyncio.to_thread(file.write_bytes, patch)
            self.record.patch = str(file.relative_to(self.setup.out))

    async def _check(self, work: Path) -> None:
        if self.task.check is not None:
            argv = ["/bin/sh", "-c", self.task.check]
            code, _, _ = await run_program(argv, work, seconds=self.setup.timeout)
            self.record.score = code == 0
