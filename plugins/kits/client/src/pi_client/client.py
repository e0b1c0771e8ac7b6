"""``PiClient``: pi in a process of its own, or behind any pair of streams."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pi_client.connection import Connection
from pi_client.errors import ConnectionLost
from pi_client.methods import CommandMethods

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Generator, Mapping, Sequence
    from pathlib import Path

    from pi_client.commands import Request
    from pi_client.connection import UiHandler
    from pi_client.events import Event
    from pi_client.values import Image

__all__ = ["PiClient"]

R = TypeVar("R")

_ORDERLY_SECONDS = 5.0
"""Seconds for pi to exit after its stdin is closed; a tool that is being aborted has a grace period of its own."""

_POLITE_SECONDS = 2.0
"""Seconds for it to exit after SIGTERM, sent after that."""

_LAST_SECONDS = 1.0
"""Seconds for the operating system to end it after SIGKILL."""


class PiClient(CommandMethods):
    """Drives a pi process. ``async with PiClient.start("--model", "...") as pi:`` ends it with the block.

    Attributes:
        process: pi's process; None over streams.
    """

    def __init__(self, connection: Connection, process: asyncio.subprocess.Process | None = None) -> None:
        self._connection = connection
        self.process = process

    @staticmethod
    def start(
        *arguments: str,
        command: Sequence[str] = ("pi",),
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        on_ui: UiHandler | None = None,
        stderr: int | None = None,
    ) -> Starting:
        """Start pi; use it as ``async with``, or await it.

        Args:
            arguments: Command line of pi: ``--model``, ``--no-session`` ...; ``--mode rpc`` is added.
            command: The program to run.
            cwd: Its working directory.
            env: Its environment; this process's when None.
            on_ui: Answers dialogs of plugins; None dismisses one. Without it, or if it returns ``UNANSWERED``, pi
                learns that this client has no user: a served session leaves the dialog to other clients.
            stderr: As in ``subprocess.Popen``; this process's when None.
        """
        return Starting((*command, "--mode", "rpc", *arguments), cwd, env, on_ui, stderr)

    @classmethod
    def over(cls, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_ui: UiHandler | None = None) -> Self:
        """Return a client for a running pi, given streams of its stdout and stdin."""
        return cls(Connection(reader, writer, on_ui))

    @classmethod
    async def connect(
        cls,
        path: str | Path,
        *,
        since: str | None = None,
        observe: bool = False,
        client: str = "pi_client",
        on_ui: UiHandler | None = None,
    ) -> Self:
        """Return a client for a session that ``pi serve`` serves.

        Args:
            path: The socket: that of a ``ServedSession``.
            since: The last entry that is known here; later ones come with an event ``entries``.
            observe: Only observe: commands that change something are refused.
            client: The client's name.
            on_ui: Answers dialogs of plugins.

        Raises:
            ConnectionLost: No process serves a session there.
            PiClientError: The server refuses the client.
        """
        from pi_client.served import open_served

        return cls.over(*await open_served(path, since=since, observe=observe, client=client), on_ui)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result; raises as ``CommandMethods.call``."""
        try:
            return await self._connection.call(request)
        except ConnectionLost as lost:
            if self.process is None:
                raise
            await _no_longer_than(_ORDERLY_SECONDS, self.process.wait())
            raise ConnectionLost(f"{lost} (exit code {self.process.returncode})", self.process.returncode) from lost

    def events(self) -> AsyncGenerator[Event, None]:
        """Yield every event from this call on, until pi ends. Events that are not consumed yet are queued."""
        return self._events(self._connection.listen())

    async def _events(self, queue: asyncio.Queue[Event | None]) -> AsyncGenerator[Event, None]:
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._connection.ignore(queue)

    async def stream(self, message: str, images: Sequence[Image] = ()) -> AsyncGenerator[Event, None]:
        """Send a prompt and yield events until it is done.

        Raises:
            CommandFailed: pi rejected it.
            ConnectionLost: pi exited.
        """
        queue = self._connection.listen()
        try:
            if await self.prompt(message, images) != "started":
                return
            while (event := await queue.get()) is not None:
                yield event
                if event.type == "agent_settled":
                    return
            raise ConnectionLost("pi exited before it was done")
        finally:
            self._connection.ignore(queue)

    async def ask(self, message: str, images: Sequence[Image] = ()) -> str:
        """Send a prompt and return the text of the last answer; raises as ``stream``."""
        async with aclosing(self.stream(message, images)) as events:
            async for _ in events:
                pass
        return await self.get_last_assistant_text() or ""

    async def close(self) -> int | None:
        """End pi and return its exit code; None over streams.

        pi shuts down cleanly when its stdin is closed. If it hangs, it gets SIGTERM after 5 s and SIGKILL 2 s later.
        """
        if self.process is None:
            await _no_longer_than(_ORDERLY_SECONDS, self._connection.close())
            return None
        insisting = ((self.process.terminate, _POLITE_SECONDS), (self.process.kill, _LAST_SECONDS))
        for insist, seconds in ((None, _ORDERLY_SECONDS), *insisting):
            if insist is not None:
                with suppress(ProcessLookupError):
                    insist()
            await _no_longer_than(seconds, asyncio.gather(self._connection.close(), self.process.wait()))
            if self.process.returncode is not None:
                break
        return self.process.returncode


class Starting:
    """A process of pi that is started by ``await``, or by ``async with``, which also ends it."""

    def __init__(
        self,
        command: Sequence[str],
        cwd: str | Path | None,
        env: Mapping[str, str] | None,
        on_ui: UiHandler | None,
        stderr: int | None,
    ) -> None:
        self._command = command
        self._cwd = cwd
        self._env = env
        self._on_ui = on_ui
        self._stderr = stderr
        self._client: PiClient | None = None

    async def _start(self) -> PiClient:
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command, stdin=pipe, stdout=pipe, stderr=self._stderr, cwd=self._cwd, env=self._env
            )
        except FileNotFoundError as error:
            if error.filename == self._command[0]:
                error.add_note(f"Add {self._command[0]!r} to PATH, or pass the command that starts pi as command=.")
            raise
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101 - as above
        return PiClient(Connection(process.stdout, process.stdin, self._on_ui), process)

    def __await__(self) -> Generator[Any, None, PiClient]:
        return self._start().__await__()

    async def __aenter__(self) -> PiClient:
        self._client = await self._start()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()


async def _no_longer_than(seconds: float, end: Awaitable[Any]) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(end, seconds)
