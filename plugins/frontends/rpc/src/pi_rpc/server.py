"""One session and its client: commands in, responses and events out, and a clean shutdown from either side.

Commands are executed in order of arrival, concurrently with the run. Each waits until the previous one is answered, so
that it sees that command's effects; but only for a limited time, and not for commands of unlimited duration. Replies to
dialogs never wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from pi_core import is_on_wire
from pi_rpc_kit.dispatch import LAST_SECONDS, Dispatcher
from pi_rpc_kit.requests import UiReply, parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from pi_client.lines import LineReader
    from pi_core import AgentSession
    from pi_hookspecs import AbortSignal
    from pi_rpc.outbox import Outbox
    from pi_rpc_kit.requests import Asked, Refused
    from pi_rpc_kit.ui import RpcUI

__all__ = ["Server"]

_MANY = 256
"""Number of pending commands above which reading pauses."""


class Server:
    """Serves a session to a client.

    Args:
        session: Not started yet; it is shut down at the end.
        outbox: The queue of all output.
        ui: Gets the replies to dialogs.

    Attributes:
        reader: Calls ``on_lines`` and ``on_end_of_input``; pauses reading on request.
    """

    def __init__(self, session: AgentSession, outbox: Outbox, ui: RpcUI) -> None:
        self._session = session
        self._outbox = outbox
        self._ui = ui
        self._waiting: deque[Asked | Refused] = deque()
        self._received = asyncio.Event()
        self._input_over = self._begun = False
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._dispatcher = Dispatcher(session, outbox.send_line, self._ended)
        self.reader: LineReader | None = None

    # From outside

    def on_lines(self, lines: Sequence[bytes | None]) -> None:
        """Handle lines from the client."""
        for line in lines:
            message = parse(line)
            if isinstance(message, UiReply):
                self._ui.answer(message.id, message.data)
            else:
                self._waiting.append(message)
        self._received.set()
        if len(self._waiting) > _MANY and self.reader is not None:
            self.reader.hold()

    def on_end_of_input(self) -> None:
        """Handle the end of the client's input: pending commands are run, but not waited for."""
        self._input_over = True
        self._received.set()
        self._ui.dismiss_all()
        self._outbox.wait_no_more()
        if not self._begun and not self._waiting:
            self.end(0)

    def end(self, exit_code: int) -> None:
        """Request shutdown."""
        if not self._ended.done():
            self._ended.set_result(exit_code)

    async def serve(self) -> int:
        """Serve until the client, a signal or a plugin ends it; returns the exit code.

        Raises:
            PiError: The session could not start.
        """
        self._session.subscribe(self._on_event)
        steps = [asyncio.create_task(step) for step in (self._work(), self._until_shutdown())]
        try:
            first: list[asyncio.Future[Any]] = [self._ended, *steps]
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            for step in steps:
                if step.done():
                    step.result()
            return await self._ended
        finally:
            await self._stop(steps)

    # Commands

    async def _work(self) -> None:
        """Execute commands one after another."""
        await self._session.start()
        self._begun = True
        while (command := await self._next()) is not None:
            await self._outbox.room_for_commands()
            await self._dispatcher.carry_out(command)
        self.end(0)
        await self._ended

    async def _next(self) -> Asked | Refused | None:
        while not self._waiting:
            if self._input_over:
                return None
            self._received.clear()
            await self._received.wait()
        command = self._waiting.popleft()
        if len(self._waiting) <= _MANY // 2 and self.reader is not None:
            self.reader.go_on()
        return command

    # Events

    def _on_event(self, event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        return self._outbox.send_event(event, signal) if is_on_wire(event) else None

    # The end

    async def _until_shutdown(self) -> None:
        """Shut down when a plugin requests it and the run is over."""
        await self._session.until_shutdown()
        self.end(0)
        await self._ended

    async def _stop(self, steps: Sequence[asyncio.Task[None]]) -> None:
        """Stop all work and shut the session down, without waiting for the client."""
        self._ui.dismiss_all()
        self._outbox.wait_no_more()
        self._session.request_abort("Session ended")
        self._session.abort_bash()
        for step in steps:
            step.cancel()
        await asyncio.wait(steps, timeout=LAST_SECONDS)
        await self._session.dispose()
        await self._dispatcher.stop()
        for command in self._waiting:
            self._dispatcher.refuse(command)
        await self._outbox.close()
