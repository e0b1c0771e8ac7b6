"""One run of a prompt: a ``pi`` process in a folder of its own, and what became of it."""

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

from attrs import define, field, frozen

from pi_eval._checks import CheckResult, check_run
from pi_hookspecs import PiError
from pi_hookspecs.service_values import SpawnRequest
from pi_process_kit import start_child

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_eval._plan import Case

__all__ = ["Record", "Task", "run_one"]

_TAIL = 2000  # characters of an error that are kept


@frozen(kw_only=True)
class Task:
    """A run that is to be made.

    Attributes:
        number: Which repeat, from 1.
        arguments: Options of ``pi``: model, plugins to leave out.
        sessions: The folder for the session.
    """

    case: Case
    number: int
    arguments: tuple[str, ...]
    sessions: Path


@define(eq=False)
class Record:
    """What became of a run.

    Attributes:
        error: Why it could not be completed; None where pi answered.
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

    def take(self, line: bytes) -> None:
        """Take over what an event of ``--mode json`` says."""
        if not line.startswith((b'{"type":"message_end"', b'{"type":"session"')):
            return
        event = json.loads(line)
        message = event.get("message", {})
        if event["type"] == "session":
            self.session = event["id"]
        elif message.get("role") == "assistant":
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        blocks, usage = message.get("content", []), message.get("usage", {})
        self.requests += 1
        self.tokens += usage.get("totalTokens", 0)
        self.dollars += usage.get("cost", {}).get("total", 0.0)
        self.calls += [
            {"name": each["name"], "arguments": each.get("arguments", {})}
            for each in blocks
            if each.get("type") == "toolCall"
        ]
        self.answer = "\n".join(each["text"] for each in blocks if each.get("type") == "text")
        failed = message.get("stopReason") in ("error", "aborted")
        self.error = message.get("errorMessage") or "the prompt was aborted" if failed else None


async def run_one(task: Task) -> Record:
    """Run a prompt once and check what it did; a run that cannot be completed has an ``error``."""
    record, case = Record(task.case.name, task.number), task.case
    began = time.monotonic()
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="pi-eval-"))
    try:
        work = await asyncio.to_thread(_prepare, folder / "work", case)
        if case.setup is not None:
            code, output = await _command(case.setup, work, case.timeout)
            if code:
                record.error = f"the setup command ended with {code}: {output[-_TAIL:].strip()}"
        if record.error is None:
            await _prompt(task, work, record)
        if record.error is None:
            record.checks = await check_run(case.checks, record, work, lambda line: _command(line, work, case.timeout))
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
    for path, text in case.files.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).write_text(text, encoding="utf-8")
    return work


async def _prompt(task: Task, work: Path, record: Record) -> None:
    command = [sys.executable, "-P", "-m", "pi_cli", "--mode", "json", "--session-dir", str(task.sessions)]
    request = _request([*command, *task.arguments, *task.case.options], work)
    async with await start_child(request, timeout=task.case.timeout) as pi:
        pi.stdin.write(task.case.prompt.encode())
        pi.stdin.close()
        assert pi.stderr is not None  # noqa: S101 - it is a pipe
        _, complaints = await asyncio.gather(_events(pi.stdout, record), pi.stderr.read())
        code = await pi.wait()
    if code and record.error is None:
        said = complaints.decode(errors="replace")[-_TAIL:].strip()
        record.error = f"pi ended with {code}: {said}" if said else f"pi ended with {code}"
    if record.error is None and not record.requests:
        record.error = "the model was not asked"


async def _events(stream: asyncio.StreamReader, record: Record) -> None:
    """Read lines of any length."""
    rest = b""
    while piece := await stream.read(1 << 16):
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            record.take(line)


async def _command(line: str, work: Path, seconds: float) -> tuple[int, str]:
    request = _request(["/bin/sh", "-c", line], work)
    async with await start_child(request, stderr="stdout", timeout=seconds) as child:
        child.stdin.close()
        output = await child.stdout.read()
        return await child.wait(), output.decode(errors="replace")


def _request(argv: Sequence[str], work: Path) -> SpawnRequest:
    return SpawnRequest(argv=tuple(argv), cwd=str(work), env=dict(os.environ), purpose="eval")
