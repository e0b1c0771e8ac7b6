"""One run of a prompt: a ``pi`` process in a separate folder, and its result."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from pi_core import error_text
from pi_eval.checks import CheckResult, check_run
from pi_hookspecs import PiError
from pi_process_kit import PiAnswer, pi_events, run_pi, run_shell, write_files

if TYPE_CHECKING:
    from pi_eval.plan import Case

__all__ = ["Record", "Task", "run_one"]

_TAIL = 2000  # characters of an error that are kept


@frozen(kw_only=True)
class Task:
    """A run to make.

    Attributes:
        number: The number of the repeat, from 1.
        arguments: Options of ``pi``: model, plugins to leave out.
        sessions: The folder for the session.
    """

    case: Case
    number: int
    arguments: tuple[str, ...]
    sessions: Path


@define(eq=False)
class Record:
    """The result of a run.

    Attributes:
        error: Why it could not be completed; None if pi answered.
        calls: The tool calls, each with ``name`` and ``arguments``.
    """

    case: str
    number: int
    checks: list[CheckResult] = field(factory=list)
    error: str | None = None
    answer: str = ""
    calls: list[dict[str, Any]] = field(factory=list)
    requests: int = 0
    tokens: int = 0
    dollars: float = 0.0
    seconds: float = 0.0
    session: str | None = None

    @property
    def passed(self) -> bool:
        """Whether it was completed and all checks passed."""
        return self.error is None and all(each.passed for each in self.checks)

    def take(self, answer: PiAnswer) -> None:
        """Add an answer of the model."""
        self.requests += 1
        self.tokens += answer.tokens
        self.dollars += answer.dollars
        self.calls += answer.calls
        self.answer, self.error = answer.text, answer.error and error_text(answer.error).sentences


async def run_one(task: Task) -> Record:
    """Run a prompt once and check what it did; a run that cannot be completed has an ``error``."""
    record, case = Record(task.case.name, task.number), task.case
    began = time.monotonic()
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="pi-eval-"))
    try:
        work = await asyncio.to_thread(_prepare, folder / "work", case)
        run_command = partial(run_shell, folder=work, purpose="eval", timeout=case.timeout)
        if case.setup is not None:
            code, output = await run_command(case.setup)
            if code:
                record.error = f"the setup command exited with {code}: {output[-_TAIL:].strip()}"
        if record.error is None:
            await _prompt(task, work, record)
        if record.error is None:
            record.checks = await check_run(case.checks, record, work, run_command)
    except (PiError, OSError) as error:
        record.error = str(error)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    record.seconds = round(time.monotonic() - began, 3)
    return record


def _prepare(work: Path, case: Case) -> Path:
    if case.folder is None:
        work.mkdir()
    else:
        shutil.copytree(case.folder, work, symlinks=True)
    write_files(work, case.files)
    return work


async def _prompt(task: Task, work: Path, record: Record) -> None:
    async def read(stream: asyncio.StreamReader) -> None:
        async for event in pi_events(stream, "session", "message_end"):
            if event["type"] == "session":
                record.session = event["id"]
            elif (answer := PiAnswer.of(event)) is not None:
                record.take(answer)

    arguments = ["--mode", "json", "--session-dir", str(task.sessions), *task.arguments, *task.case.options]
    seconds = task.case.timeout
    end = await run_pi(arguments, read, cwd=work, purpose="eval", prompt=task.case.prompt, timeout=seconds)
    if end.timed_out:
        record.error = f"pi was ended after {seconds:g} seconds (timeout)"
    elif record.error is None:
        record.error = end.error or (None if record.requests else "no request was made")
