"""What goes to the client: written as fast as it is read, and kept small where it is not.

The descriptor stays as it is, since the parent process may share it: it is asked before each piece whether it would
take one. While it does not, deltas of one block become one delta, and what replaces what came before replaces it. Above
a mebibyte the run waits for the reader.
"""

from __future__ import annotations

import asyncio
import os
import select
from typing import TYPE_CHECKING, Any

from pi_core.wire import dumps, to_wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from pi_hookspecs import AbortSignal

__all__ = ["Outbox"]

_PIECE = 4096
"""Bytes that a pipe takes at once when it takes any (``PIPE_BUF``)."""

_TURN = 1024 * 1024
"""Bytes to write before others on the event loop have their turn."""

FULL = 1024 * 1024
"""Bytes that may wait before the run waits, too."""

OVERFULL = 4 * FULL
"""Bytes that may wait before commands wait, too, and notices are dropped."""

_BURST = 64
"""Events of a run after which others on the event loop have their turn, should the model's answer come at once."""

_TAIL = 256 * 1024
"""Characters of a command's output that are kept for a client that does not read; its result has all that counts."""

_PATIENCE = 1.0
"""Seconds without any progress after which a client that does not read the last words is left."""


class Outbox:
    """Lines on their way to the client.

    Args:
        descriptor: Where they are written.
        on_gone: Called once when nothing can be written any more.

    Attributes:
        failure: Why nothing can be written any more; None while it can.
    """

    def __init__(self, descriptor: int, on_gone: Callable[[], None]) -> None:
        self.failure: OSError | None = None
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._rest = memoryview(b"")
        self._late: dict[Hashable, _Waiting] = {}
        self._growing: dict[Hashable, _Waiting] = {}
        self._size = self._events = 0
        self._blocked = self._scheduled = self._gone = self._closing = False
        self._less = asyncio.Event()
        self._poll = select.poll() if hasattr(select, "poll") else None
        if self._poll is not None:
            self._poll.register(descriptor, select.POLLOUT)

    # In

    def send(self, value: Any) -> None:
        """Send a value as a line, whatever happens."""
        self.send_line(dumps(value))

    def send_line(self, line: bytes, key: Hashable = None, *, droppable: bool = False) -> None:
        """Send a line.

        Args:
            line: Without the newline.
            key: A queued line with the same key is superseded and dropped.
            droppable: Whether a slow reader can miss it.
        """
        if self._gone or (droppable and self._size > OVERFULL):
            return
        if self._blocked:
            self._replace(key if key is not None else object(), _Waiting(line + b"\n"))
            return
        self._lines.append(line)
        self._size += len(line) + 1
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def send_event(self, event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        """Send an event; the run that it belongs to waits where the client is too slow, until it is aborted."""
        if self._gone:
            return None
        if self._blocked:
            self._keep(event)
        else:
            self.send_line(dumps(event), droppable=event.type == "extension_error")
        if signal is None:
            return None
        self._events += 1
        if self._size > FULL and not self._closing:
            return self._room(signal)
        return asyncio.sleep(0) if self._events % _BURST == 0 else None  # also at the end, so that an abort is received

    def _keep(self, event: Any) -> None:
        delta = _delta_of(event)
        if delta is not None:
            key, text = delta
            waiting = self._growing.get(key)
            if waiting is None:
                waiting = self._growing[key] = _Waiting(to_wire(event), tail=_TAIL if key[0] == "bash" else None)
                self._replace(object(), waiting)
            self._size += waiting.add(text)
            return
        if event.type not in ("queue_update", "extension_error", "entry_appended", "tool_execution_update"):
            self._growing.clear()  # a block, or a message, is over
        self.send_line(dumps(event), _replaces(event), droppable=event.type == "extension_error")

    def _replace(self, key: Hashable, waiting: _Waiting) -> None:
        before = self._late.pop(key, None)
        self._size += waiting.size - (before.size if before is not None else 0)
        self._late[key] = waiting

    # Waiting

    async def room(self) -> None:
        """Return when commands may be read: limits the queued answers for a client that does not read them."""
        while self._size > OVERFULL and not self._closing and not self._gone:
            await self._until_less()

    async def _room(self, signal: AbortSignal) -> None:
        forget = signal.on_abort(self._less.set)
        try:
            while self._size > FULL // 2 and not (self._closing or self._gone or signal.aborted):
                await self._until_less()
        finally:
            forget()

    async def _until_less(self) -> None:
        self._less.clear()
        await self._less.wait()

    def wait_no_more(self) -> None:
        """Let nothing wait for the client from now on: the end is near."""
        self._closing = True
        self._less.set()

    async def close(self) -> None:
        """Return when everything is written, or when the client does not read it."""
        self.wait_no_more()
        before = -1
        while self._size and not self._gone and self._size != before:
            before = self._size
            try:
                async with asyncio.timeout(_PATIENCE):
                    while self._size and not self._gone:
                        await self._until_less()
            except TimeoutError:
                continue
        self._unblock()

    # Out

    def _flush(self) -> None:
        """Write as much as is taken."""
        self._scheduled = False
        written = 0
        try:
            while self._size and written < _TURN:
                if not self._rest:
                    self._rest = self._next()
                if not self._takes_more():
                    self._block()
                    return
                count = os.write(self._descriptor, self._rest[:_PIECE])
                self._rest = self._rest[count:]
                self._size -= count
                written += count
        except OSError as error:
            self._fail(error)
            return
        self._less.set()
        if self._size and not self._blocked:
            self._scheduled = True
            self._loop.call_soon(self._flush)
        elif not self._size:
            self._unblock()

    def _next(self) -> memoryview:
        if self._lines:
            lines, self._lines = self._lines, []
            return memoryview(b"\n".join((*lines, b"")))
        late, self._late = self._late, {}
        self._growing.clear()
        text = b"".join(each.line() for each in late.values())
        self._size = len(text)
        return memoryview(text)

    def _takes_more(self) -> bool:
        return self._poll is None or bool(self._poll.poll(0))

    def _block(self) -> None:
        self._less.set()
        if not self._blocked:
            self._blocked = True
            self._loop.add_writer(self._descriptor, self._flush)

    def _unblock(self) -> None:
        if self._blocked:
            self._blocked = False
            self._loop.remove_writer(self._descriptor)

    def _fail(self, error: OSError) -> None:
        self.failure = error
        self._gone = True
        self._unblock()
        self._lines.clear()
        self._late.clear()
        self._growing.clear()
        self._rest = memoryview(b"")
        self._size = 0
        self._less.set()
        self._on_gone()


class _Waiting:
    """A line that waits; one that grows is written down when it is sent.

    Args:
        content: The line, or a delta event's wire form.
        tail: Characters of a delta to keep, its last; all when None.
    """

    def __init__(self, content: bytes | dict[str, Any], tail: int | None = None) -> None:
        self._content = content
        self._tail = tail
        self._parts: list[str] = []
        self._characters = 0
        self.size = len(content) if isinstance(content, bytes) else 0

    def add(self, text: str) -> int:
        """Add to a delta; returns by how much the line grew."""
        before = self._characters
        self._parts.append(text)
        self._characters += len(text)
        if self._tail is not None and self._characters > 2 * self._tail:
            kept = "".join(self._parts)[-self._tail :]
            self._parts, self._characters = [kept], len(kept)
        self.size += self._characters - before
        return self._characters - before

    def line(self) -> bytes:
        """Return the line as it is sent."""
        if isinstance(self._content, bytes):
            return self._content
        holder = self._content.get("assistantMessageEvent", self._content)
        holder["delta"] = "".join(self._parts)
        return dumps(self._content) + b"\n"


def _replaces(event: Any) -> Hashable:
    """Return the part of an event that replaces earlier ones; None when it only adds to them."""
    if event.type == "tool_execution_update":
        return event.type, event.tool_call_id
    return event.type if event.type == "queue_update" else None


def _delta_of(event: Any) -> tuple[tuple[str, Any], str] | None:
    """Return what a delta belongs to, and its text; None for every other event."""
    if event.type == "bash_execution_update":
        return ("bash", event.id), event.delta
    if event.type != "message_update":
        return None
    update = event.assistant_message_event
    delta = getattr(update, "delta", None)
    return None if delta is None else ((update.type, update.content_index), delta)
