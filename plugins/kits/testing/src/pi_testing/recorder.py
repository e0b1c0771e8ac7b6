"""Records events, and formats them in a short notation."""

from __future__ import annotations

import asyncio
from difflib import ndiff
from typing import TYPE_CHECKING, Any

from pi_testing.patience import soon

if TYPE_CHECKING:
    from pi_hookspecs import AbortSignal

__all__ = ["EventRecorder"]

_LONG_REPR = 12


class EventRecorder:
    """A listener for ``session.subscribe`` and ``agent.subscribe``.

    Args:
        collapse: Whether ``types`` and ``outline`` show consecutive updates of a message as one.

    Attributes:
        events: The received events, in order.
    """

    def __init__(self, *, collapse: bool = True) -> None:
        self.collapse = collapse
        self.events: list[Any] = []
        self._waiting: list[asyncio.Event] = []

    def __call__(self, event: Any, signal: AbortSignal | None = None) -> None:
        """Record an event."""
        self.events.append(event)
        for news in self._waiting:
            news.set()

    def __repr__(self) -> str:
        outline = self.outline()
        if len(outline) > _LONG_REPR:
            outline = [
                *outline[: _LONG_REPR // 2],
                f"... {len(outline) - _LONG_REPR} more ...",
                *outline[-_LONG_REPR // 2 :],
            ]
        return f"<EventRecorder: {', '.join(outline) or 'nothing came'}>"

    @property
    def types(self) -> list[str]:
        """The types of the events, in order."""
        return [event.type for event in self._collapsed()]

    @property
    def text(self) -> str:
        """The complete text that the model streamed."""
        return "".join(event.delta for event in self.of("text_delta"))

    def of(self, type: str) -> list[Any]:  # noqa: A002 - the event's field
        """Return the events of one type, or the stream events of one type, such as ``text_delta``."""
        found = [event for event in self.events if event.type == type]
        inner = (getattr(event, "assistant_message_event", None) for event in self.events)
        return found or [event for event in inner if event is not None and event.type == type]

    def clear(self) -> None:
        """Remove all recorded events."""
        self.events.clear()

    def outline(self) -> list[str]:
        """Return the events in the notation of the contract.

        ``ms(user)`` and ``me(user)`` are the start and end of a message, and ``mu`` stands for its updates (without
        ``collapse``, each update is shown, as ``mu(text_delta)``). ``tes(bash)``, ``teu`` and ``tee(bash)`` are the
        start, update and end of a tool call. Other events are shown by their type.
        """
        return [_short(event, self.collapse) for event in self._collapsed()]

    def diff(self, *expected: str) -> str:
        """Return the differences to the expected outline, one line for each event; empty if there are none.

        Args:
            expected: Events in the notation of ``outline``, as separate arguments or separated by commas.
        """
        wanted = [part for text in expected for part in map(str.strip, text.split(",")) if part]
        came = self.outline()
        return "" if came == wanted else "\n".join(ndiff(wanted, came))

    def assert_outline(self, *expected: str) -> None:
        """Raise an ``AssertionError`` that shows the difference, if there is one; takes the arguments of ``diff``."""
        difference = self.diff(*expected)
        if difference:
            raise AssertionError(f"other events than expected (- expected, + came):\n{difference}")

    async def wait_for(self, type: str, count: int = 1) -> Any:  # noqa: A002 - the event's field
        """Wait for the ``count``-th event of a type and return it.

        Raises:
            AssertionError: The event does not arrive in time.
        """
        news = asyncio.Event()
        self._waiting.append(news)
        try:
            await soon(self._until(type, count, news), lambda: f"{type} number {count}; so far: {self.outline()}")
        finally:
            self._waiting.remove(news)
        return self.of(type)[count - 1]

    async def _until(self, kind: str, count: int, news: asyncio.Event) -> None:
        while len(self.of(kind)) < count:
            news.clear()
            await news.wait()

    def _collapsed(self) -> list[Any]:
        if not self.collapse:
            return self.events
        before = [None, *(event.type for event in self.events)]
        return [
            event
            for event, previous in zip(self.events, before, strict=False)
            if event.type != "message_update" or previous != "message_update"
        ]


_SHORT = {
    "message_start": "ms",
    "message_update": "mu",
    "message_end": "me",
    "tool_execution_start": "tes",
    "tool_execution_update": "teu",
    "tool_execution_end": "tee",
}


def _short(event: Any, collapsed: bool) -> str:  # noqa: FBT001 - one caller
    name = _SHORT.get(event.type, event.type)
    if name in ("ms", "me"):
        return f"{name}({event.message.role})"
    if name in ("tes", "tee"):
        return f"{name}({event.tool_name})"
    if name == "mu" and not collapsed:
        return f"mu({event.assistant_message_event.type})"
    if name == "extension_error":
        return f"{name}({event.extension_path}: {event.event})"
    return str(name)
