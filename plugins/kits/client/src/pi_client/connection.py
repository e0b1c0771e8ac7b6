"""Lines to and from pi: matches responses to commands, passes events to listeners and dialogs to their handler."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pi_client.errors import CommandFailed, ConnectionLost, ProtocolError
from pi_client.events import UNANSWERED, Event, UiRequest
from pi_client.fields import Mismatch
from pi_client.framing import LineSplitter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_client.commands import Request
    from pi_client.values import JsonObject

__all__ = ["Connection", "UiHandler"]

R = TypeVar("R")

UiHandler: TypeAlias = "Callable[[UiRequest], Awaitable[object] | object]"
"""Answers plugins' dialogs: a string, True or False for ``confirm``, None to dismiss, ``UNANSWERED`` without a user.

Also called with notices.
"""

_CHUNK = 256 * 1024

_ID = re.compile(rb'\{"id":"([^"\\]*)"')


class Connection:
    """The connection to one pi process.

    Args:
        reader: pi's stdout.
        writer: pi's stdin.
        on_ui: Answers dialogs. If None, or if it returns ``UNANSWERED``, the reply says that this client has no user.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, on_ui: UiHandler | None = None
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._on_ui = on_ui
        self._ids = count(1)
        self._asked: dict[str, asyncio.Future[JsonObject]] = {}
        self._listeners: set[asyncio.Queue[Event | None]] = set()
        self._dialogs: dict[asyncio.Task[None], object] = {}
        self._lost = False
        self._reading = asyncio.create_task(self._read())

    # Commands

    async def call(self, request: Request[R]) -> R:
        """Send a command and return its result.

        Raises:
            CommandFailed: pi reports that it failed.
            ConnectionLost: pi has ended.
            ProtocolError: The response does not follow the protocol.
        """
        call_id = f"c{next(self._ids)}"
        answered = self._asked[call_id] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": call_id, "type": request.type, **request.to_wire()})
            response = await answered
        finally:
            del self._asked[call_id]
        if response.get("success") is not True:
            raise CommandFailed(request.type, str(response.get("error", "(no reason was given)")))
        try:
            return request.read_answer(response.get("data"))
        except Mismatch as problem:
            raise ProtocolError(f"pi answered {request.type!r} with data whose {problem}") from problem

    async def _send(self, data: JsonObject) -> None:
        if self._lost:
            raise ConnectionLost("pi has ended")
        self._writer.write(json.dumps(data, separators=(",", ":")).encode() + b"\n")
        try:
            await self._writer.drain()
        except (ConnectionError, RuntimeError) as error:
            raise ConnectionLost("pi no longer reads its input") from error

    # Events

    def listen(self) -> asyncio.Queue[Event | None]:
        """Return an unbounded queue that gets every event from now on, and None at the end."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        if self._lost:
            queue.put_nowait(None)
        self._listeners.add(queue)
        return queue

    def ignore(self, queue: asyncio.Queue[Event | None]) -> None:
        """Stop filling a queue."""
        self._listeners.discard(queue)

    # Reading

    async def _read(self) -> None:
        lines = LineSplitter()
        try:
            while chunk := await self._reader.read(_CHUNK):
                for line in lines.feed(chunk):
                    self._on_line(line or b"")
        except ConnectionError:
            pass
        finally:
            self._end()

    def _on_line(self, line: bytes) -> None:
        try:
            data = json.loads(line)
        except RecursionError:
            self._fail_too_deep(line)
            return
        except ValueError:  # not from pi: something else in its process wrote to stdout
            return
        kind = data.get("type") if isinstance(data, dict) else None
        if kind == "response":
            self._on_response(data)
        elif kind == "extension_ui_request":
            task = asyncio.create_task(self._ask_user(data))
            self._dialogs[task] = data.get("id")
            task.add_done_callback(lambda done: self._dialogs.pop(done, None))
        elif kind == "extension_ui_closed":
            self._close_dialog(data.get("id"))
        elif kind is not None:
            event = Event(data)
            for queue in self._listeners:
                queue.put_nowait(event)

    def _close_dialog(self, dialog_id: object) -> None:
        """Take a dialog back that another client has answered, or that is over."""
        for task, each in [*self._dialogs.items()]:
            if each == dialog_id:
                task.cancel()

    def _on_response(self, data: JsonObject) -> None:
        waiting = self._asked.get(str(data.get("id")))
        if waiting is not None and not waiting.done():
            waiting.set_result(data)

    def _fail_too_deep(self, line: bytes) -> None:
        found = _ID.match(line)
        waiting = self._asked.get(found[1].decode()) if found is not None else None
        if waiting is not None and not waiting.done():
            message = "The answer is nested too deeply to be read; get_entries returns a session's tree as a list"
            waiting.set_exception(ProtocolError(message))

    async def _ask_user(self, data: JsonObject) -> None:
        request = UiRequest(str(data.get("method")), data)
        answer: Any = UNANSWERED
        try:
            if self._on_ui is not None:
                answer = self._on_ui(request)
                if inspect.isawaitable(answer):
                    answer = await answer
        except asyncio.CancelledError:  # closed elsewhere, or this client ends: neither is an answer of its user
            raise
        except BaseException:
            await self._reply_to(request, UNANSWERED)
            raise
        await self._reply_to(request, answer)

    async def _reply_to(self, request: UiRequest, answer: Any) -> None:
        if not request.is_dialog:
            return
        with suppress(ConnectionLost):
            await self._send({"type": "extension_ui_response", "id": request.data.get("id"), **_reply(request, answer)})

    # The end

    async def close(self) -> None:
        """Close pi's stdin, which ends pi, and return when pi has closed its stdout."""
        with suppress(OSError, RuntimeError):
            self._writer.close()
        await asyncio.wait([self._reading])

    def _end(self) -> None:
        self._lost = True
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(ConnectionLost("pi has ended before it answered"))
        for queue in self._listeners:
            queue.put_nowait(None)
        for task in self._dialogs:
            task.cancel()


def _reply(request: UiRequest, answer: Any) -> JsonObject:
    if answer is UNANSWERED:
        return {"cancelled": True, "unanswered": True}
    if answer is None:
        return {"cancelled": True}
    return {"confirmed": answer is True} if request.method == "confirm" else {"value": str(answer)}
