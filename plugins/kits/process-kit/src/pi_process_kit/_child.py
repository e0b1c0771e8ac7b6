"""A supervised program with pipes, for servers and whatever else runs longer than one call."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, Self

from pi_process_kit._errors import ProcessFailure
from pi_process_kit._processes import KILL_WAIT, starter

if TYPE_CHECKING:
    from pi_hookspecs import SpawnRequest
    from pi_process_kit._processes import Process, Starter

__all__ = ["Child", "start_child"]

STOP_GRACE = 2.0
"""Seconds that a program has to end by itself once its standard input is closed."""
_LIMIT = 1 << 20
"""Bytes that are read ahead: longer lines need ``read``, not ``readline``."""


class Child:
    """A running program. It ends with pi, however that ends; ``stop`` ends it before, as does leaving ``async with``.

    Attributes:
        pid: The program's.
        stdin: What is written there is its standard input.
        stdout: Its standard output.
        stderr: Its standard error; None where that was not to be piped.
        timed_out: Whether its deadline ended it.
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
        """The exit code, 128+n after signal n; None while it runs."""
        exited = self._process.exited
        if not exited.done():
            return None
        return 128 + signal.SIGKILL if exited.exception() is not None else exited.result()[0]

    async def wait(self) -> int:
        """Return the exit code when the program has ended; what it has left running may still run.

        Raises:
            ProcessFailure: What watches the program was killed, and the program with it.
        """
        code, _ = await asyncio.shield(self._process.exited)
        return code

    def kill(self) -> None:
        """End the program and everything it started, now."""
        self._process.kill()

    def end_after(self, seconds: float) -> None:
        """Set the deadline: after so many seconds the program and everything it started are ended."""
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self._on_deadline)

    def _on_deadline(self) -> None:
        if self.exit_code is None:
            self.timed_out = True
            self.kill()

    async def stop(self, grace: float = STOP_GRACE) -> bool:
        """End the program: close its standard input, wait, ask it with SIGTERM, wait, end it and all that it started.

        Args:
            grace: Seconds for each wait.

        Returns:
            Whether nothing of it is left; only a process that is stuck in the kernel takes longer.
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
        """Close the pipes, and forget the deadline."""
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
) -> Child:
    """Start a program with pipes.

    Args:
        request: What ``prepare`` returned.
        stderr: Where standard error goes: to a pipe of its own, which must be read; with the standard output; or
            nowhere.
        timeout: As ``Child.end_after``.
        start: Starts it; None for the default of this system.

    Raises:
        ProcessFailure: It cannot be started; the message says why.
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
        child = await pipes.connect(process)
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
    """The descriptors of a program, as far as they are still to be closed: its own ends, and ours."""

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
        """Close the program's ends: it has them now."""
        while self.theirs:
            os.close(self.theirs.popitem()[1])

    def close(self) -> None:
        """Close what is left."""
        self.close_theirs()
        while self._ours:
            os.close(self._ours.popitem()[1])

    async def connect(self, process: Process) -> Child:
        """Return the child over our ends."""
        transports: list[asyncio.BaseTransport] = []
        try:
            stdin = await self._writer(transports)
            stdout = await self._reader("stdout", transports)
            stderr = await self._reader("stderr", transports) if "stderr" in self._ours else None
        except BaseException:
            for transport in transports:
                transport.close()
            raise
        return Child(process, stdin, stdout, stderr, transports)

    async def _reader(self, name: str, transports: list[asyncio.BaseTransport]) -> asyncio.StreamReader:
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=_LIMIT)
        file = os.fdopen(self._ours.pop(name), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), file)
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
