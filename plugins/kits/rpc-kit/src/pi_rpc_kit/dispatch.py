"""Executes the commands of one client on a session, and sends one response to each; independent of the transport."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_core import dumps, error_sentence, require_local
from pi_rpc_kit.handlers import HANDLERS, NO_DATA, SLOW, JsonText, images_of
from pi_rpc_kit.requests import Asked, Refused, response

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from pi_core import Session
    from pi_rpc_kit.handlers import Answer

__all__ = ["LAST_SECONDS", "Dispatcher", "SendLine"]

SendLine: TypeAlias = Callable[[bytes], None]
"""Sends a line, given without its newline."""

LAST_SECONDS = 2.0
"""Seconds that running commands have to stop at the end."""

_TURN_SECONDS = 1.0
"""Seconds that a command waits for the response to the previous command, in which a plugin may be waiting for the
client."""

_ENDING = "pi is ending; the command was not carried out"


class Dispatcher:
    """Executes the commands of one client.

    Args:
        session: The session on which the commands are executed.
        send_line: Sends a response.
        ended: A future that is done when the client is no longer served.
    """

    def __init__(self, session: Session, send_line: SendLine, ended: asyncio.Future[Any]) -> None:
        self._session = session
        self._local = require_local(session, "Serving a session of another process")
        self._send_line = send_line
        self._ended = ended
        self._at_work: set[asyncio.Task[None]] = set()

    async def carry_out(self, asked: Asked | Refused) -> None:
        """Execute a command; return when the next command may start."""
        if isinstance(asked, Refused):
            self._send_line(dumps(response(asked, success=False, error=asked.error)))
            return
        reply = _Reply(self._send_line, asked)
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
            await asyncio.sleep(0)  # it has started and can now be aborted
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
        """Send a prompt. The response is sent when the prompt is accepted; later failures are reported as events."""
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
                self._local.report_plugin_error("(prompt)", "prompt", error_sentence(error))
        except asyncio.CancelledError:
            if self._ended.done():
                reply.refuse(_ENDING)
                raise
            cancelled = self._local.hooks.explain_cancellation()
            if not reply.given.done():
                reply.refuse(cancelled)
            else:
                self._local.report_plugin_error("(prompt)", "prompt", cancelled)

    async def stop(self) -> None:
        """Cancel the running commands after a short grace period."""
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=0.1)
        for task in tuple(self._at_work):
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=LAST_SECONDS)

    def refuse(self, command: Asked | Refused) -> None:
        """Respond to a command that is no longer executed, because pi is ending."""
        self._send_line(dumps(response(command, success=False, error=_ENDING)))


class _Reply:
    """The one response to a command.

    Attributes:
        given: A future that is done once the response has been sent.
    """

    def __init__(self, send_line: SendLine, asked: Asked) -> None:
        self._send_line = send_line
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
        self.refuse(error_sentence(error))

    def refuse(self, why: str) -> None:
        """Send an error response with this text."""
        self._send(dumps(response(self._asked, success=False, error=why)))

    def _send(self, line: bytes) -> None:
        if not self.given.done():
            self.given.set_result(None)
            self._send_line(line)
