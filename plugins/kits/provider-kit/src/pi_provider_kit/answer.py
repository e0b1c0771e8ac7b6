"""Reading an answer, shared by all codecs: received events are converted as they arrive; any failure ends the answer.

The reader is imported only after the request was sent: the server takes longer than the import.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pi_hookspecs.errors import MissingKey
from pi_provider_kit.failure import HttpFailed, oversized_failure
from pi_provider_kit.json_values import dicts
from pi_provider_kit.progress import Progress
from pi_provider_kit.request import Timeouts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator

    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit.builder import AnswerBuilder

__all__ = ["AnswerReader", "BlockReader", "EventReader", "read_answer", "unread_calls"]

_ANSWER_LIMIT = 64 * 1_048_576
"""Characters of text, thinking and arguments together; no model's answer is so long, and it is kept in memory."""

_DELTAS = frozenset(("text_delta", "thinking_delta", "toolcall_delta"))

_HEARTBEATS = (b"", b"null", b"ping", b"pong", b"heartbeat", b"keepalive", b"keep-alive", b"keep_alive")

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class AnswerReader(Protocol[T_contra]):
    """Converts an API's events to ours. It is independent of the transport."""

    @property
    def builder(self) -> AnswerBuilder:
        """The message so far."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the answer is complete."""
        ...

    def feed(self, received: T_contra, /) -> Iterable[AssistantMessageEvent]:
        """Return the events for one received item.

        Raises:
            RequestFailed: It reports a failure, or is invalid.
        """
        ...

    def end(self) -> Iterable[AssistantMessageEvent]:
        """Return the remaining events at the end of the stream.

        Raises:
            RequestFailed: The answer is not complete.
        """
        ...


class EventReader(ABC):
    """Base class of readers of server-sent events that contain JSON objects, of which ``[DONE]`` is the last.

    Implements ``AnswerReader``.

    Args:
        builder: Makes our events.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        self.builder = builder
        self.finished = False
        """Whether the answer is complete."""
        self._started = False
        self._marked = False
        """Whether the stream said ``[DONE]``."""

    def feed(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Yield what one event (the data of a server-sent event) adds.

        Raises:
            RequestFailed: The event reports a failure, or is invalid.
        """
        if self.finished:
            return
        if not self._started:
            self._started = True
            yield self.builder.start()
        if data[:1] != b"{" and (data := data.strip())[:1] != b"{":
            yield from self._other(data)
            return
        event = self.parse(data)
        if isinstance(event, dict):
            yield from self.take(event)

    def _other(self, data: bytes) -> Iterator[AssistantMessageEvent]:
        """Take data that is no JSON object: the mark of the end, a heartbeat, a list, or text."""
        if data == b"[DONE]":
            self._marked = True
            yield from self.end()
        elif data.strip(b":[] ").lower() not in _HEARTBEATS:
            event = self.parse(data)
            for each in dicts(event):
                yield from self.take(each)

    @abstractmethod
    def parse(self, data: bytes) -> Any:
        """Return an event's JSON; anything but an object is ignored.

        Raises:
            RequestFailed: It is not JSON.
        """
        ...

    @abstractmethod
    def take(self, event: dict[str, Any]) -> Iterator[AssistantMessageEvent]:
        """Yield the events for one parsed event.

        Raises:
            RequestFailed: The event reports a failure, or is invalid.
        """
        ...

    @abstractmethod
    def end(self) -> Iterator[AssistantMessageEvent]:
        """Yield the last events of an answer that is complete: of blocks left open, and ``Done``.

        Raises:
            RequestFailed: It is not complete.
        """
        ...


class BlockReader:
    """Base class of readers of events that open, extend and close blocks. Subclasses implement ``AnswerReader``.

    Args:
        builder: Makes our events.

    Attributes:
        finished: Whether the answer is complete.
        started: Whether the stream's first event was returned.
        stop: The API's stop reason, once it is known.
    """

    def __init__(self, builder: AnswerBuilder) -> None:
        self.builder = builder
        self.finished = False
        self.started = False
        self.stop: str | None = None

    def begin(self) -> tuple[AssistantMessageEvent, ...]:
        """Return the stream's first event unless it was returned before; not every host sends one of its own."""
        if self.started:
            return ()
        self.started = True
        return (self.builder.start(),)

    def note_stop(self, reason: Any) -> None:
        """Record a value as the API's stop reason, if it is a text."""
        if isinstance(reason, str) and reason:
            self.stop = self.builder.extras["raw_stop_reason"] = reason


async def read_answer(
    received: AsyncGenerator[T],
    reader: Callable[[], AnswerReader[T]],
    options: StreamOptions,
    *,
    explain: Callable[[Exception], Exception] | None = None,
    secrets: Callable[[], Iterable[str]] = tuple,
) -> AsyncIterator[AssistantMessageEvent]:
    """Yield an answer, whole or with the error that ended it: exactly one ``Done`` or ``Error`` is the last event.

    It ends with an error, which keeps the content received, when there is more than 64 MB of text, or no new content
    for ``Timeouts.progress``.

    Args:
        received: Makes the request and yields the API's events.
        reader: Returns the reader, the same at each call (``functools.cache``). Called here with the first event, or
            earlier, after the request was sent (``HttpRequest.on_sent``).
        options: The options of the request.
        explain: Adds an explanation to a failure.
        secrets: Returns further values to redact from errors, in addition to the key and secret headers of ``options``:
            tokens that are known only when the request is made.

    Raises:
        MissingKey: There is no key or login; this is not reported as an answer.
    """
    size = 0
    try:
        async with aclosing(received):
            reading: AnswerReader[T] | None = None
            async for each in received:
                if reading is None:
                    reading, progress = reader(), Progress(Timeouts.of(options).progress)
                    feed = reading.feed
                event = None
                for event in feed(each):
                    if event.type in _DELTAS:
                        size += len(event.delta)  # type: ignore[union-attr] # as its type requires
                    yield event
                if reading.finished:
                    break
                if event is None or size > _ANSWER_LIMIT:
                    _check(progress, size)
                else:  # the path of almost every event: no call, no reading of the clock
                    progress.since = None
        for event in reader().end():
            yield event
    except MissingKey:
        raise
    except Exception as problem:  # noqa: BLE001 - any failed request is an answer
        failure: Any = problem if explain is None else explain(problem)
        yield reader().builder.end_for(failure, options, secrets())


def unread_calls(word: str) -> HttpFailed:
    """Return the failure of an answer that announced tool calls of which none arrived; it is tried again.

    Args:
        word: The API's stop reason.
    """
    return HttpFailed(
        f"Stream ended without the tool calls that it announced (finish reason {word!r})", kind="incomplete"
    )


def _check(progress: Progress, size: int) -> None:
    """Raise for an answer that is too long, or makes no progress for too long."""
    if size > _ANSWER_LIMIT:
        raise oversized_failure(_ANSWER_LIMIT)
    progress.note(advanced=False)
