"""The lines that clients get about a session: its stored entries, and activity that is not stored yet."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from attrs import evolve

from pi_core import CleanLines, dumps, is_on_wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pi_core import AgentSession

__all__ = ["Feed"]

_MAY_STORE = frozenset({"message_end", "entry_appended", "compaction_end", "tool_execution_end", "turn_end"})
_MAY_STORE |= {"agent_settled", "session_info_changed", "session_tree", "model_select", "thinking_level_select"}
"""Events after which entries may have been stored."""

_IN_PROGRESS = frozenset({"agent_start", "message_start", "message_update", "tool_execution_start"})
_IN_PROGRESS |= {"tool_execution_update", "queue_update", "compaction_start", "auto_retry_start"}
"""Events that a client needs that comes after them, until others end what they tell of."""

_ENDS = {
    "agent_start": ("message_update", "auto_retry_start"),
    "message_start": ("message_update", "auto_retry_start"),
    "message_end": ("message_start", "message_update"),
    "tool_execution_end": ("tool_execution_start", "tool_execution_update"),
    "queue_update": ("queue_update",),
    "auto_retry_end": ("auto_retry_start",),
    "compaction_end": ("compaction_start",),
}
"""The activities that each event ends."""

_OUTLIVE_AGENT = ("queue_update", "compaction_start")
"""Activities that may continue when the agent has settled."""


class _Lines(Protocol):
    """Entries of a session, which it can also write as JSON."""

    def lines(self) -> Iterable[bytes]:
        """Return each entry as a line."""
        ...


class Feed:
    """Produces the lines about a session for all its clients.

    Args:
        session: The session.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._clean = CleanLines.asked_for(session)
        self._live: dict[tuple[str, str | None], Any] = {}
        self._retry_at = 0.0
        self._sent: tuple[int, str | None] = self._state()

    def reset(self) -> Iterator[bytes]:
        """Yield the lines that tell clients that another conversation has replaced this one."""
        self._live.clear()
        self._sent = self._state()
        line = self._entries(self._session.session_manager.get_entries(), reset=True)
        yield from self._cleaned([line], CleanLines.asked_for(self._session))

    def lines_of(self, event: Any) -> Iterator[bytes]:
        """Yield the lines of an event, and of the entries stored since the previous event."""
        if is_on_wire(event):
            self._track(event)
            yield from self._cleaned([dumps(event)], self._clean)
        if event.type in _MAY_STORE and ("message_start", None) not in self._live:
            yield from self.new_entries()

    def new_entries(self) -> Iterator[bytes]:
        """Yield a line with the entries that have not been sent to clients yet."""
        before, self._sent = self._sent, self._state()
        if self._sent != before:
            new = self._session.session_manager.get_entries()[before[0] :]
            yield from self._cleaned([self._entries(new, reset=False)], self._clean)

    def catch_up(self, since: str | None) -> Iterator[bytes]:
        """Yield the lines that bring a client up to date.

        Args:
            since: The id of the last entry that the client has. If there is no such entry, it gets all entries.
        """
        entries = self._session.session_manager.get_entries()[: self._sent[0]]
        missed = entries if since is None else entries.after(since)
        first = self._entries(entries, reset=True) if missed is None else self._entries(missed, reset=False)
        yield from self._cleaned([first, *self._in_progress()], CleanLines.asked_for(self._session))

    @property
    def last_id(self) -> str | None:
        """The id of the last entry that was sent to clients."""
        sent = self._sent[0]
        return self._session.session_manager.get_entries()[sent - 1].id if sent else None

    # Entries

    def _state(self) -> tuple[int, str | None]:
        manager = self._session.session_manager
        return len(manager.get_entries()), manager.leaf_id

    def _entries(self, entries: _Lines, *, reset: bool) -> bytes:
        """Return the line with entries, those that the session's file has as they stand there."""
        begin = b'{"type":"entries",' + (b'"reset":true,' if reset else b"")
        leaf = dumps(self._session.session_manager.leaf_id)
        return begin + b'"entries":[' + b",".join(entries.lines()) + b'],"leaf":' + leaf + b"}"

    # Current activity

    def _track(self, event: Any) -> None:
        call = getattr(event, "tool_call_id", None)
        for kind in _ENDS.get(event.type, ()):
            self._live.pop((kind, call), None)
        if event.type == "agent_settled":
            self._live = {key: each for key, each in self._live.items() if key[0] in _OUTLIVE_AGENT}
        elif event.type in _IN_PROGRESS and not _is_empty_queue(event):
            self._live[event.type, call] = event
        if event.type == "auto_retry_start":
            self._retry_at = time.monotonic() + event.delay_ms / 1000

    def _in_progress(self) -> Iterator[bytes]:
        update = self._live.get(("message_update", None))
        partial = None if update is None or self._clean is not None else _partial(update)
        for (kind, _), event in self._live.items():
            if kind == "message_start" and partial is not None:
                yield dumps({"type": "message_start", "message": partial, "partial": True})
            elif kind == "auto_retry_start":
                remaining = max(self._retry_at - time.monotonic(), 0)
                yield dumps(evolve(event, delay_ms=round(remaining * 1000)))
            elif kind != "message_update":
                yield dumps(event)

    @staticmethod
    def _cleaned(lines: Sequence[bytes], clean: CleanLines | None) -> Iterator[bytes]:
        for line in lines:
            yield from [line] if clean is None else clean.of(line)


def _partial(update: Any) -> Any:
    """Return the partial message of an event; None if it has none."""
    return getattr(update.assistant_message_event, "partial", None)


def _is_empty_queue(event: Any) -> bool:
    return event.type == "queue_update" and not event.steering and not event.follow_up
