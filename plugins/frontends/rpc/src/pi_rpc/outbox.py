"""The queue of lines to the client: bounded, and written as fast as the client reads.

While the client does not read, deltas of one block are merged, and superseded events are dropped. Above one mebibyte
the run waits for the reader.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_client.lines import FULL, LineWriter
from pi_core import dumps, to_wire

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from pi_core import CleanLines
    from pi_hookspecs import AbortSignal

__all__ = ["Outbox"]

OVERFULL = 4 * FULL
"""Pending bytes above which commands wait, too, and notices are dropped."""

_BURST = 64
"""Events of a run after which other tasks get a turn, even if the whole answer arrives at once."""

_TAIL = 256 * 1024
"""Maximum characters of partial command output kept for a slow client; the result contains the output again."""


class Outbox(LineWriter):
    """Lines queued for the client, bounded while it does not read them.

    Args:
        descriptor: The output descriptor.
        on_gone: Called once when writing is no longer possible.
        clean: Redacts lines; None writes them unchanged.
    """

    def __init__(self, descriptor: int, on_gone: Callable[[], None], clean: CleanLines | None = None) -> None:
        super().__init__(descriptor, on_gone)
        self._clean = clean
        self._late: dict[Hashable, _Waiting] = {}
        self._growing: dict[Hashable, _Waiting] = {}
        self._events = 0

    # In

    def send(self, value: Any) -> None:
        """Send a value as a line that is never dropped."""
        self.send_line(dumps(value))

    def send_line(self, line: bytes, key: Hashable = None, *, droppable: bool = False) -> None:
        """Send a line.

        Args:
            line: The line without its newline.
            key: A queued line with the same key is superseded and dropped.
            droppable: Whether it may be dropped for a slow reader.
        """
        if self._gone or (droppable and self._size > OVERFULL):
            return
        if self._blocked:
            self._replace(key if key is not None else object(), _Waiting(line + b"\n"))
        elif self._clean is None:
            self.write(line)
        else:
            for each in self._clean.of(line):
                self.write(each)

    def send_event(self, event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        """Send an event; if the client is too slow, the event's run waits until it catches up or the run is aborted."""
        if self._gone:
            return None
        if self._blocked:
            self._keep(event)
        else:
            self.send_line(dumps(event), droppable=event.type == "extension_error")
        if signal is None:
            return None
        self._events += 1
        if self.is_full:
            return self._room(signal)
        return asyncio.sleep(0) if self._events % _BURST == 0 else None  # also at the end, so that an abort can arrive

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
            self._growing.clear()  # a block or a message has ended
        self.send_line(dumps(event), _replaces(event), droppable=event.type == "extension_error")

    def _replace(self, key: Hashable, waiting: _Waiting) -> None:
        before = self._late.pop(key, None)
        self._size += waiting.size - (before.size if before is not None else 0)
        self._late[key] = waiting

    # Waiting

    async def room_for_commands(self) -> None:
        """Wait until commands may be read, which limits queued answers for a client that does not read."""
        await self.room(OVERFULL)

    async def _room(self, signal: AbortSignal) -> None:
        forget = signal.on_abort(self.wake)
        try:
            await self.room(FULL // 2, lambda: signal.aborted)
        finally:
            forget()

    # Out

    def _next(self) -> memoryview:
        if self._lines:
            return super()._next()
        late, self._late = self._late, {}
        self._growing.clear()
        lines = (each.line() for each in late.values())
        if self._clean is not None:
            lines = (each + b"\n" for line in lines for each in self._clean.of(line))
        text = b"".join(lines)
        self._size = len(text)
        return memoryview(text)

    def _fail(self, error: OSError) -> None:
        self._late.clear()
        self._growing.clear()
        super()._fail(error)


class _Waiting:
    """A pending line; a growing one is serialised when it is sent.

    Args:
        content: The line, or a delta event's wire form.
        tail: Number of final characters of a delta to keep; None for all.
    """

    def __init__(self, content: bytes | dict[str, Any], tail: int | None = None) -> None:
        self._content = content
        self._tail = tail
        self._parts: list[str] = []
        self._characters = 0
        self.size = len(content) if isinstance(content, bytes) else 0

    def add(self, text: str) -> int:
        """Append to a delta; return by how much the line grew."""
        before = self._characters
        self._parts.append(text)
        self._characters += len(text)
        if self._tail is not None and self._characters > 2 * self._tail:
            kept = "".join(self._parts)[-self._tail :]
            self._parts, self._characters = [kept], len(kept)
        self.size += self._characters - before
        return self._characters - before

    def line(self) -> bytes:
        """Return the line in wire form."""
        if isinstance(self._content, bytes):
            return self._content
        holder = self._content.get("assistantMessageEvent", self._content)
        holder["delta"] = "".join(self._parts)
        return dumps(self._content) + b"\n"


def _replaces(event: Any) -> Hashable:
    """Return the part of an event that supersedes earlier ones; None if it only adds to them."""
    if event.type == "tool_execution_update":
        return event.type, event.tool_call_id
    return event.type if event.type == "queue_update" else None


def _delta_of(event: Any) -> tuple[tuple[str, Any], str] | None:
    """Return the block of a delta and its text; None for every other event."""
    if event.type == "bash_execution_update":
        return ("bash", event.id), event.delta
    if event.type != "message_update":
        return None
    update = event.assistant_message_event
    delta = getattr(update, "delta", None)
    return None if delta is None else ((update.type, update.content_index), delta)
