"""``exec``: runs a program without a shell, in its own process group, with limits of time and output."""

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
"""Bytes of stdout, and of stderr, that are kept; the rest is read and dropped, so the program does not block."""
KILL_GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
PIPE_GRACE = 0.5
"""Seconds to read output after the program has exited, because its children may keep the pipe open."""
NOT_STARTED = 127


async def run_program(
    command: str,
    args: Sequence[str] = (),
    *,
    cwd: str | Path,
    signal: AbortSignal | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - the program is killed, not only abandoned
    env: Mapping[str, str] | None = None,
) -> ExecResult:
    """Run a program and return its output and how it ended; see ``PiAPI.exec``.

    Unlike in ``PiAPI.exec``, ``env`` is the whole environment; None uses the environment of this process.
    """
    if signal is not None and signal.aborted:
        return ExecResult(stdout="", stderr="", code=128 + signals.SIGTERM, killed=True)
    program = _Program()
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: program,
            os.fspath(command),
            *map(os.fspath, args),
            cwd=cwd,
            env=None if env is None else dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        reason = getattr(error, "strerror", None) or str(error)
        return ExecResult(stdout="", stderr=f"Cannot run {command!r}: {reason}", code=NOT_STARTED)
    try:
        killed = await _end(program, transport, signal, timeout)
    except asyncio.CancelledError:
        _send(transport, "SIGKILL")
        raise
    finally:
        transport.close()
    return program.result(transport.get_returncode(), killed=killed)


class _Program(asyncio.SubprocessProtocol):
    """Collects a program's output and its exit; unlike ``Process.wait``, it does not wait for the pipes to close."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self.silent = asyncio.Event()
        self._kept = {1: bytearray(), 2: bytearray()}
        self._open = {1, 2}
        self._truncated = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        room = OUTPUT_BYTES - len(self._kept[fd])
        self._kept[fd] += data[:room]
        self._truncated = self._truncated or len(data) > room

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open:
            self.silent.set()

    def process_exited(self) -> None:
        self.exited.set()

    def result(self, code: int | None, *, killed: bool) -> ExecResult:
        """Return output and exit code."""
        code = -signals.SIGTERM if code is None else code
        return ExecResult(
            stdout=self._kept[1].decode("utf-8", "replace"),
            stderr=self._kept[2].decode("utf-8", "replace"),
            code=code if code >= 0 else 128 - code,
            killed=killed,
            truncated=self._truncated,
        )


async def _end(
    program: _Program, transport: asyncio.SubprocessTransport, signal: AbortSignal | None, seconds: float | None
) -> bool:
    """Wait for the program to exit, and kill it after a timeout or an abort; return whether it was killed."""
    waits: list[asyncio.Task[object]] = [asyncio.create_task(program.exited.wait())]
    if signal is not None:
        waits.append(asyncio.create_task(signal.wait()))
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waits:
            task.cancel()
    killed = not program.exited.is_set()
    if killed:
        _send(transport, "SIGTERM")
        await _within(KILL_GRACE, program.exited)
        _send(transport, "SIGKILL")  # also children that the program left behind
        await _within(KILL_GRACE, program.exited)
    await _within(PIPE_GRACE, program.silent)
    return killed


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


def _send(transport: asyncio.SubprocessTransport, name: str) -> None:
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(transport.get_pid(), getattr(signals, name))
        else:
            transport.kill()
