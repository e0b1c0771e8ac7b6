"""Fake background processes that the test controls; no program is started."""

from __future__ import annotations

import asyncio
import shlex
from typing import TYPE_CHECKING, Self

from pi_hookspecs import PiError, ProcessOutput, UnknownName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext, ProcessStatus

__all__ = ["FakeProcess", "FakeProcesses"]


class FakeProcess:
    """Implements ``ManagedProcess``.

    Attributes:
        cwd: The requested working directory; None for the session's working directory.
        env: The environment variables passed to it.
        written: The data written to its standard input.
    """

    def __init__(self, process_id: str, name: str, command: str, cwd: str | None, env: Mapping[str, str]) -> None:
        self.id = process_id
        self.name = name
        self.command = command
        self.status: ProcessStatus = "running"
        self.exit_code: int | None = None
        self.cwd = cwd
        self.env = dict(env)
        self.written: list[str] = []
        self._text = ""
        self._ended = asyncio.Event()

    def print(self, text: str) -> None:
        """Add output, as if the process had printed it."""
        self._text += text

    def end(self, exit_code: int = 0) -> None:
        """End the process, as if it had exited by itself."""
        self._finish("exited", exit_code)

    def _finish(self, status: ProcessStatus, exit_code: int) -> None:
        if not self._ended.is_set():
            self.status, self.exit_code = status, exit_code
            self._ended.set()

    def read(self, since: int = 0) -> ProcessOutput:
        """Return the output."""
        return ProcessOutput(self._text[since:], len(self._text))

    async def write(self, text: str) -> None:
        """Record the data."""
        if self.exit_code is not None:
            message = f"Process {self.id} ({self.name}) has ended ({self.exit_code}). Start it again to write to it."
            raise PiError(message)
        self.written.append(text)

    async def wait(self) -> int:
        """Return the exit code once ``end`` or ``stop`` has been called."""
        await self._ended.wait()
        return self.exit_code or 0

    async def stop(self) -> None:
        """End the process as SIGTERM would."""
        self._finish("stopped", 143)


class FakeProcesses:
    """Implements ``ProcessKeeper`` and ``Processes``: return it from ``register_services``.

    Attributes:
        started: The processes that were started, in order.
    """

    def __init__(self) -> None:
        self.started: list[FakeProcess] = []

    def processes(self, ctx: PiContext) -> Self:
        """Return this object, for every session."""
        return self

    async def start(
        self,
        command: str | Sequence[str],
        *,
        name: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> FakeProcess:
        """Record and return a fake process."""
        text = command if isinstance(command, str) else shlex.join(command)
        process = FakeProcess(f"{len(self.started) + 1:08x}", name or text, text, cwd, env or {})
        self.started.append(process)
        return process

    def list(self) -> Sequence[FakeProcess]:
        """Return ``started``."""
        return [*self.started]

    def get(self, process_id: str) -> FakeProcess:
        """Return a process by its id."""
        found = {each.id: each for each in self.started}
        if process_id not in found:
            raise UnknownName("process", process_id, found)
        return found[process_id]
