"""``exec``: a program without a shell, in a process group of its own, bounded in time and output (pi.md 10.3)."""

from __future__ import annotations

import asyncio
import os
import signal as signals
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_hookspecs.actions import ExecResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_hookspecs import AbortSignal

__all__ = ["run_program"]

OUTPUT_BYTES = 1 << 20
"""How much of stdout, and of stderr, is kept; the rest is read and dropped, so that the program is not held up."""
KILL_GRACE = 1.0
"""Seconds between the polite signal and the one that cannot be refused."""
PIPE_GRACE = 0.5
"""Seconds for output that is still on its way when the program has ended: what it left running may hold the pipe."""
NOT_STARTED = 127


async def run_program(
    command: str,
    args: Sequence[str] = (),
    *,
    cwd: str | Path,
    signal: AbortSignal | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - the program is killed, not only left
    env: Mapping[str, str] | None = None,
) -> ExecResult:
    """Run a program and return what it printed and how it ended; see ``PiAPI.exec``."""
    if signal is not None and signal.aborted:
        return ExecResult(stdout="", stderr="", code=128 + signals.SIGTERM, killed=True)
    try:
        process = await asyncio.create_subprocess_exec(
            os.fspath(command),
            *map(os.fspath, args),
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = getattr(error, "strerror", None) or str(error)
        return ExecResult(stdout="", stderr=f"Cannot run {command!r}: {reason}", code=NOT_STARTED)
    return await _Running(process).ended(signal, timeout)


class _Running:
    """One program at work."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._killed = False
        self._out = _Kept(process.stdout)
        self._error = _Kept(process.stderr)

    async def ended(self, signal: AbortSignal | None, seconds: float | None) -> ExecResult:
        """Wait for the end, whichever it is."""
        ending = asyncio.create_task(self._process.wait())
        aborted = asyncio.create_task(signal.wait()) if signal is not None else None
        try:
            waited = {ending} if aborted is None else {ending, aborted}
            await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._process.returncode is None:
                await self._kill(ending)
            await asyncio.wait((self._out.reading, self._error.reading), timeout=PIPE_GRACE)
        except asyncio.CancelledError:
            self._send("SIGKILL")
            raise
        finally:
            for task in (ending, aborted, self._out.reading, self._error.reading):
                if task is not None:
                    task.cancel()
            _close(self._process)
        code = self._process.returncode
        return ExecResult(
            stdout=self._out.text(),
            stderr=self._error.text(),
            code=NOT_STARTED if code is None else code if code >= 0 else 128 - code,
            killed=self._killed,
            truncated=self._out.truncated or self._error.truncated,
        )

    async def _kill(self, ending: asyncio.Task[int]) -> None:
        self._killed = True
        self._send("SIGTERM")
        await asyncio.wait((ending,), timeout=KILL_GRACE)
        self._send("SIGKILL")  # also what the program started and did not take with it
        await asyncio.wait((ending,), timeout=KILL_GRACE)

    def _send(self, name: str) -> None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, getattr(signals, name))
            else:
                self._process.kill()


class _Kept:
    """Reads a stream to its end and keeps the beginning."""

    def __init__(self, stream: asyncio.StreamReader | None) -> None:
        self.truncated = False
        self._kept = bytearray()
        self.reading = asyncio.create_task(self._read(stream))

    async def _read(self, stream: asyncio.StreamReader | None) -> None:
        while stream is not None and (data := await stream.read(1 << 16)):
            room = OUTPUT_BYTES - len(self._kept)
            self._kept += data[:room]
            self.truncated = self.truncated or len(data) > room

    def text(self) -> str:
        return self._kept.decode("utf-8", "replace")


def _close(process: asyncio.subprocess.Process) -> None:
    """Let go of the pipes, which something that was left behind may hold open."""
    transport = getattr(process, "_transport", None)
    if transport is not None and process.returncode is not None:
        transport.close()
