"""One client of a served session: executes its commands, sends it lines, and drops it if it reads too slowly."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from pi_core import CleanLines, dumps
from pi_rpc_kit.dispatch import Dispatcher
from pi_rpc_kit.requests import Asked, Refused, UiReply, parse
from pi_rpc_kit.ui import RpcUI
from pi_serve.rendering import render_texts, rendering_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable

    from pi_core import AgentSession
    from pi_serve.hello import Hello

__all__ = ["MAX_PENDING_BYTES", "READ_ONLY", "Client", "Link", "refused_unless_allowed"]

MAX_PENDING_BYTES = 4 * 1024 * 1024
"""Bytes that may be queued for a client before it is dropped."""

_MAX_QUEUED_COMMANDS = 256
"""Commands of a client that may be queued before reading pauses."""

READ_ONLY = frozenset(
    {"get_state", "get_messages", "get_session_stats", "get_last_assistant_text", "get_commands", "get_entries"}
    | {"get_available_models", "get_available_thinking_levels", "get_fork_messages", "get_tree"}
)
"""Commands that change nothing."""


def refused_unless_allowed(asked: Asked, commands: Collection[str] | None) -> Asked | Refused:
    """Return the command, or its refusal if this server does not offer it."""
    if commands is None or asked.command in commands:
        return asked
    return Refused(asked.command, f"Command {asked.command!r} is not offered by this server", asked.id)


class Link(Protocol):
    """The transport that sends lines to a client."""

    @property
    def waiting(self) -> int:
        """The number of bytes that the client has not received yet."""

    def write(self, line: bytes) -> None:
        """Send a line, given without its newline, without waiting."""

    def end(self, reason: str) -> None:
        """Close the connection once everything is written, or after a timeout."""


class Client:
    """A client that has sent its hello line.

    Args:
        session: The session on which its commands are executed.
        link: The transport of its lines.
        hello: The parsed hello line.
        ended: A future that is done when the session is no longer served.
        commands: The commands that clients of this server may send; None allows all.

    Attributes:
        ui: The user interface through which the client gets dialogs; None for an observer.
        remove_ui: Removes this user interface from the session's dialogs.
    """

    def __init__(
        self,
        session: AgentSession,
        link: Link,
        hello: Hello,
        ended: asyncio.Future[int],
        commands: Collection[str] | None = None,
    ) -> None:
        self._session = session
        self._link = link
        self._hello = hello
        self._commands = commands
        self.remove_ui: Callable[[], object] = bool
        self._gone = False
        self._catching_up = 0
        self._last_id = hello.since
        self._queue: asyncio.Queue[Asked | Refused | None] = asyncio.Queue(_MAX_QUEUED_COMMANDS)
        self._rendering: set[asyncio.Task[None]] = set()
        self._dispatcher = Dispatcher(session, self._respond, ended)
        self.ui = None if hello.observes else RpcUI(self, tells_end=True, clean=CleanLines.texts_for(session))

    # Outgoing lines

    def send_line(self, line: bytes, key: Hashable = None, *, droppable: bool = False) -> None:
        """Send a line; drop the client if 4 MB of lines are queued for it."""
        if self._gone:
            return
        waiting = self._link.waiting
        if waiting < MAX_PENDING_BYTES:
            self._catching_up = 0
        if waiting > MAX_PENDING_BYTES + self._catching_up:
            self._drop()
            return
        self._link.write(line)

    def catch_up(self, lines: list[bytes]) -> None:
        """Send everything that the client missed, whatever its size."""
        self._catching_up = sum(map(len, lines))
        for line in lines:
            self._link.write(line)

    def mark_sent(self, entry_id: str | None) -> None:
        """Record the last entry that was sent."""
        if not self._gone:
            self._last_id = entry_id

    def _respond(self, line: bytes) -> None:
        clean = CleanLines.asked_for(self._session)
        for each in [line] if clean is None else clean.of(line):
            self.send_line(each)

    def _drop(self) -> None:
        self._gone = True
        known = "the beginning" if self._last_id is None else self._last_id
        reason = (
            f"too slow: over {MAX_PENDING_BYTES} bytes were waiting; connect again with hello and resume from {known}"
        )
        self._link.write(dumps({"type": "dropped", "error": reason, "resume": self._last_id}))
        self._link.end(reason)

    # Incoming lines

    async def take(self, line: bytes | None) -> None:
        """Queue a received line; wait while too many commands of this client are queued."""
        rendering = rendering_of(line) if self._commands is None else None
        if rendering is not None:
            task = asyncio.create_task(render_texts(rendering, self.send_line))
            self._rendering.add(task)
            task.add_done_callback(self._rendering.discard)
            return
        message = parse(line)
        if isinstance(message, UiReply):
            if self.ui is not None:
                self.ui.answer(message.id, message.data)
            return
        if isinstance(message, Asked):
            if self._hello.observes and message.command not in READ_ONLY:
                why = f"Command {message.command!r} changes the session, and this client only observes it"
                message = Refused(message.command, f"{why}: connect with the role 'control'", message.id)
            else:
                message = refused_unless_allowed(message, self._commands)
        await self._queue.put(message)

    async def work(self) -> None:
        """Execute the received commands in order, including those received before the client disconnected."""
        while (asked := await self._queue.get()) is not None:
            await self._dispatcher.carry_out(asked)

    async def leave(self) -> None:
        """Stop sending lines and dialogs; the work that the client started continues."""
        self._gone = True
        if self.ui is not None:
            self.ui.dismiss_all()
        await self._queue.put(None)

    def disconnect(self, reason: str) -> None:
        """Close the connection."""
        self._link.end(reason)

    async def stop(self) -> None:
        """Cancel the client's running commands, because the session ends."""
        for task in self._rendering:
            task.cancel()
        await self._dispatcher.stop()
