"""The way of an answer that all codecs share: what a request brings is read as it comes, and whatever fails ends it.

What reads an answer is only imported when its request has left: the server needs longer than the import does.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pi_hookspecs.errors import MissingKey
from pi_provider_kit._failure import oversized_failure
from pi_provider_kit._progress import Progress
from pi_provider_kit._request import Timeouts

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable

    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit._builder import AnswerBuilder

__all__ = ["AnswerReader", "read_answer"]

_ANSWER_LIMIT = 64 * 1_048_576
"""Characters of text, thinking and arguments together; no model answers so much, and all of it is kept in memory."""

_DELTAS = frozenset(("text_delta", "thinking_delta", "toolcall_delta"))

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)


class AnswerReader(Protocol[T_contra]):
    """Turns what an API sends into our events. It knows nothing of where that comes from."""

    @property
    def builder(self) -> AnswerBuilder:
        """The message so far."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more need be read."""
        ...

    def feed(self, received: T_contra, /) -> Iterable[AssistantMessageEvent]:
        """Return what one thing received adds.

        Raises:
            RequestFailed: It tells of a failure, or cannot be understood.
        """
        ...

    def end(self) -> Iterable[AssistantMessageEvent]:
        """Return what is left when nothing more is read.

        Raises:
            RequestFailed: The answer is not complete.
        """
        ...


async def read_answer(
    received: AsyncGenerator[T],
    reader: Callable[[], AnswerReader[T]],
    options: StreamOptions,
    *,
    explain: Callable[[Exception], Exception] | None = None,
    secrets: Callable[[], Iterable[str]] = tuple,
) -> AsyncIterator[AssistantMessageEvent]:
    """Yield an answer, whole or with the error that ended it: exactly one ``Done`` or ``Error`` is the last event.

    It ends with an error, which keeps what came, where more than 64 MB of text come, and where for
    ``Timeouts.progress`` nothing comes that adds to it.

    Args:
        received: Makes the request and yields what comes: the events of an API.
        reader: Returns what reads it, the same at each call (``functools.cache``). It is called here when the first
            thing came, or before it by who sends the request (``HttpRequest.on_sent``).
        options: Those of the request.
        explain: Makes more of a failure than was said.
        secrets: Returns what must not be in an error, beside the key and secret headers of ``options``: tokens that are
            known only when the request is made.

    Raises:
        MissingKey: Nobody is logged in, which is no answer.
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
                        size += len(event.delta)  # type: ignore[union-attr] # as its type says
                    yield event
                if reading.finished:
                    break
                if event is None or size > _ANSWER_LIMIT:
                    _check(progress, size)
                else:  # the way of almost every event: no call, no look at the clock
                    progress.since = None
        for event in reader().end():
            yield event
    except MissingKey:
        raise
    except Exception as problem:  # noqa: BLE001 - a request that fails is an answer, whatever failed
        failure: Any = problem if explain is None else explain(problem)
        yield reader().builder.end_for(failure, options, secrets())


def _check(progress: Progress, size: int) -> None:
    """Refuse an answer that is too long, or goes on for too long without getting further."""
    if size > _ANSWER_LIMIT:
        raise oversized_failure(_ANSWER_LIMIT)
    progress.note(advanced=False)
