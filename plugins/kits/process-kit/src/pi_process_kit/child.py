"""A supervised program with pipes, for servers and other programs that run longer than one call."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from pi_process_kit.errors import ProcessFailure
from pi_process_kit.processes import KILL_WAIT, starter

if TYPE_CHECKING:
    from pi_hookspecs import SpawnRequest
    from pi_process_kit.processes import Process, Starter

__all__ = ["Child", "start_child"]

STOP_GRACE = 2.0
"""Seconds that a program has to exit by itself once its standard input is closed."""
_LIMIT = 1 << 20
"""Read-ahead limit in bytes: longer lines must be read with ``read`` instead of ``readline``."""


class Child:
    """A running program. It never outlives pi; ``stop``, or leaving ``async with``, ends it earlier.

    Attributes:
        pid: The program's process id.
        stdin: A writer for the program's standard input.
        stdout: A reader of the program's standard output.
        stderr: A reader of the program's standard error; None if it is not piped separately.
        timed_out: Whether the program was ended because of its deadline.
    """

    def __init__(
        self,
        process: Process,
        stdin: asyncio.StreamWriter,
        stdout: asyncio.StreamReader,
        stderr: asyncio.StreamReader | None,
        transports: list[asyncio.BaseTransport],
    ) -> None:
        self._process = process
        self._transports = transports
        self._deadline: asyncio.TimerHandle | None = None
        self.pid = process.pid
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.timed_out = False

    @property
    def exit_code(self) -> int | None:
        """The exit code, 128+n after signal n; None while the program is running."""
        exited = self._process.exited
        if not exited.done():
            return None
        return 128 + signal.SIGKILL if exited.exception() is not None else exited.result()[0]

    async def wait(self) -> int:
        """Wait until the program has ended and return its exit code; its descendants may still be running.

        Raises:
            ProcessFailure: The supervisor of the program was killed, and the program with it.
        """
        code, _ = await asyncio.shield(self._process.exited)
        return code

    def kill(self) -> None:
        """Kill the program and all its descendants immediately."""
        self._process.kill()

    def end_after(self, seconds: float) -> None:
        """Set a deadline: after this number of seconds, the program and all its descendants are killed."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        if self.exit_code is None:
            self.timed_out = True
            self.kill()

    async def stop(self, grace: float = STOP_GRACE) -> bool:
        """End the program: close its standard input, wait, send SIGTERM, wait, then kill it and all its descendants.

        Args:
            grace: Seconds for each wait.

        Returns:
            Whether no process is left; this is only False if a process is stuck in the kernel.
        """
        exited = self._process.exited
        try:
            self.stdin.close()
            await asyncio.wait({exited}, timeout=grace)
            if not exited.done():
                with suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGTERM)
                await asyncio.wait({exited}, timeout=grace)
        finally:
            self._process.kill()
            self.close()
        return await self._process.ended(KILL_WAIT)

    def close(self) -> None:
        """Close the pipes and cancel the deadline."""
        if self._deadline is not None:
            self._deadline.cancel()
        for transport in self._transports:
            transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


async def start_child(
    request: SpawnRequest,
    *,
    stderr: Literal["pipe", "stdout", "null"] = "pipe",
    timeout: float | None = None,  # noqa: ASYNC109 - the program's deadline, not that of its start
    start: Starter | None = None,
    output: asyncio.Protocol | None = None,
) -> Child:
    """Start a program with pipes.

    Args:
        request: The request that ``prepare`` returned.
        stderr: The destination of standard error: a separate pipe, which must be read; the same pipe as standard
            output; or the null device.
        timeout: The deadline in seconds; see ``Child.end_after``.
        start: The starter to use; None uses the default of this system.
        output: Receives standard output in place of ``Child.stdout``, which then has nothing: without a task that has
            to be resumed for each piece.

    Raises:
        ProcessFailure: The program cannot be started; the message says why.
    """
    pipes = _Pipes(stderr)
    process = None
    try:
        process = await (start or starter()).launch(
            request.argv,
            request.cwd,
            request.env,
            out=pipes.theirs["stdout"],
            error=pipes.theirs["stderr"],
            drain=pipes.theirs["drain"],
            stdin=pipes.theirs["stdin"],
        )
        pipes.close_theirs()
        child = await pipes.connect(process, output)
    except OSError as error:
        message = f"Cannot start {request.argv[0]!r} in {request.cwd!r}: {error.strerror or error}."
        raise ProcessFailure(message) from error
    except BaseException:
        if process is not None:
            process.kill()
        raise
    finally:
        pipes.close()
    if timeout is not None:
        child.end_after(timeout)
    return child


class _Pipes:
    """The descriptors of a program's pipes that still have to be closed: the program's ends, and ours."""

    def __init__(self, stderr: str) -> None:
        self.theirs: dict[str, int] = {}
        self._ours: dict[str, int] = {}
        try:
            self.theirs["stdin"], self._ours["stdin"] = os.pipe()
            self._ours["stdout"], self.theirs["stdout"] = os.pipe()
            self.theirs["drain"] = os.open(os.devnull, os.O_RDONLY)
            if stderr == "pipe":
                self._ours["stderr"], self.theirs["stderr"] = os.pipe()
            elif stderr == "null":
                self.theirs["stderr"] = os.open(os.devnull, os.O_WRONLY)
            else:
                self.theirs["stderr"] = os.dup(self.theirs["stdout"])
        except OSError:
            self.close()
            raise

    def close_theirs(self) -> None:
        """Close our copies of the program's ends, once the program has them."""
        while self.theirs:
            os.close(self.theirs.popitem()[1])

    def close(self) -> None:
        """Close the remaining descriptors."""
        self.close_theirs()
        while self._ours:
            os.close(self._ours.popitem()[1])

    async def connect(self, process: Process, output: asyncio.Protocol | None) -> Child:
        """Return a ``Child`` that uses our ends."""
        transports: list[asyncio.BaseTransport] = []
        try:
            stdin = await self._writer(transports)
            stdout = await self._reader("stdout", transports, output)
            stderr = await self._reader("stderr", transports) if "stderr" in self._ours else None
        except BaseException:
            for transport in transports:
                transport.close()
            raise
        return Child(process, stdin, stdout, stderr, transports)

    async def _reader(
        self, name: str, transports: list[asyncio.BaseTransport], output: asyncio.Protocol | None = None
    ) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LIMIT)
        file = os.fdopen(self._ours.pop(name), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: output or asyncio.StreamReaderProtocol(reader), file)
        transports.append(transport)
        return reader

    async def _writer(self, transports: list[asyncio.BaseTransport]) -> asyncio.StreamWriter:
        loop = asyncio.get_running_loop()
        file = os.fdopen(self._ours.pop("stdin"), "wb", buffering=0)
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), file
        )
        transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, None, loop)
