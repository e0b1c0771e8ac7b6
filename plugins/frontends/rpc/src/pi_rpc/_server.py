"""One session and its client: commands in, responses and events out, and a clean shutdown from either side.

Commands are executed in the order in which they arrive, concurrently with the run. Each waits until the one
before is answered, so that what it asks is asked of the session as that one left it; but not for long, and not for
those that take as long as they take. Replies to dialogs wait for nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from pi_core.wire import dumps, is_on_wire
from pi_hookspecs import PiError
from pi_rpc._handlers import HANDLERS, NO_DATA, SLOW, JsonText, images_of
from pi_rpc._requests import Asked, Refused, UiReply, parse, response

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from pi_client.lines import LineReader
    from pi_core.conversation import AgentSession
    from pi_hookspecs import AbortSignal
    from pi_rpc._handlers import Answer
    from pi_rpc._outbox import Outbox
    from pi_rpc._ui import RpcUI

__all__ = ["Server"]

_TURN_SECONDS = 1.0
"""Seconds that a command waits for the response to the one before: a plugin may be waiting there for an answer of the
client."""

_MANY = 256
"""Commands that may wait before no more are read."""

_LAST_SECONDS = 2.0
"""How long commands that are being carried out have to stop at the end."""

_ENDING = "pi is ending; the command was not carried out"


class Server:
    """Serves a session to a client.

    Args:
        session: Not started yet; it is shut down at the end.
        outbox: Where everything goes.
        ui: Gets the replies to dialogs.

    Attributes:
        reader: What ``on_lines`` and ``on_end_of_input`` are called by; it pauses reading on request.
    """

    def __init__(self, session: AgentSession, outbox: Outbox, ui: RpcUI) -> None:
        self._session = session
        self._outbox = outbox
        self._ui = ui
        self._waiting: deque[Asked | Refused] = deque()
        self._received = asyncio.Event()
        self._input_over = self._begun = False
        self._at_work: set[asyncio.Task[None]] = set()
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.reader: LineReader | None = None

    # From outside

    def on_lines(self, lines: Sequence[bytes | None]) -> None:
        """Take lines of the client."""
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
        """Ask for the end."""
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
        """Carry out what comes, one after another."""
        await self._session.start()
        self._begun = True
        while (command := await self._next()) is not None:
            await self._outbox.room_for_commands()
            if isinstance(command, Refused):
                self._outbox.send(response(command, success=False, error=command.error))
            else:
                await self._carry_out(command)
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

    async def _carry_out(self, asked: Asked) -> None:
        reply = _Reply(self._outbox, asked)
        if asked.command == "prompt":
            self._start(self._prompt(asked.request, reply))
        else:
            try:
                answer = HANDLERS[asked.command](self._session, asked.request, asked.id)
            except Exception as error:  # noqa: BLE001 - a failing command must not stop the next one
                reply.failed(error)
                return
            if not isinstance(answer, Awaitable):
                reply.done(answer)
                return
            self._start(self._finish(answer, reply))
        if asked.command in SLOW:
            await asyncio.sleep(0)  # it has begun, and can be aborted
        else:
            either: list[asyncio.Future[Any]] = [reply.given, self._ended]
            await asyncio.wait(either, timeout=_TURN_SECONDS, return_when=asyncio.FIRST_COMPLETED)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _finish(self, answer: Awaitable[Answer], reply: _Reply) -> None:
        try:
            reply.done(await answer)
        except Exception as error:  # noqa: BLE001 - as above
            reply.failed(error)
        except asyncio.CancelledError:
            reply.refuse(_ENDING)
            raise

    async def _prompt(self, asked: Any, reply: _Reply) -> None:
        """Send a prompt; the response comes when it is accepted, later failures are events."""
        try:
            await self._session.prompt(
                asked.message,
                images=images_of(asked.images),
                streaming_behavior=asked.streaming_behavior,
                source="rpc",
                on_accepted=lambda disposition: reply.done({"disposition": disposition}),
            )
        except Exception as error:  # noqa: BLE001 - as above
            if not reply.given.done():
                reply.failed(error)
            else:
                self._session.report_plugin_error("(prompt)", "prompt", _text_of(error))
        except asyncio.CancelledError:
            if self._ended.done():
                reply.refuse(_ENDING)
                raise
            cancelled = self._session.hooks.explain_cancellation()
            if not reply.given.done():
                reply.refuse(cancelled)
            else:
                self._session.report_plugin_error("(prompt)", "prompt", cancelled)

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
        """Stop what is going on and shut the session down; nothing waits for the client any more."""
        self._ui.dismiss_all()
        self._outbox.wait_no_more()
        self._session.request_abort("Session ended")
        self._session.abort_bash()
        for step in steps:
            step.cancel()
        await asyncio.wait(steps, timeout=_LAST_SECONDS)
        await self._session.dispose()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=0.1)
        for task in tuple(self._at_work):
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=_LAST_SECONDS)
        for command in self._waiting:
            self._outbox.send(response(command, success=False, error=_ENDING))
        await self._outbox.close()


class _Reply:
    """The one response to a command.

    Attributes:
        given: Done when the response is on its way.
    """

    def __init__(self, outbox: Outbox, asked: Asked) -> None:
        self._outbox = outbox
        self._asked = asked
        self.given: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def done(self, answer: Answer) -> None:
        """Send a success response."""
        if answer is NO_DATA:
            self._send(dumps(response(self._asked, success=True)))
        elif isinstance(answer, JsonText):
            head = dumps(response(self._asked, success=True))
            self._send(head[:-1] + b',"data":' + answer + b"}")
        else:
            self._send(dumps(response(self._asked, success=True, data=answer)))

    def failed(self, error: Exception) -> None:
        """Send an error response."""
        self.refuse(_text_of(error))

    def refuse(self, why: str) -> None:
        """Send a response that it was cancelled."""
        self._send(dumps(response(self._asked, success=False, error=why)))

    def _send(self, line: bytes) -> None:
        if not self.given.done():
            self.given.set_result(None)
            self._outbox.send_line(line)


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, PiError) and str(error) else f"{type(error).__name__}: {error}"
