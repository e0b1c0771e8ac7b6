"""The steps of a scripted turn; each step produces a part of an answer's stream."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from pi_hookspecs import Cost, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from pi_hookspecs import AbortSignal, MessageBuilder, StopReason

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A PNG of one pixel, in base64."""

__all__ = [
    "PNG",
    "Stage",
    "Step",
    "delay",
    "error",
    "image",
    "no_end",
    "raises",
    "stall",
    "stop",
    "text",
    "thinking",
    "tool_call",
    "unknown_event",
    "usage",
]


@define(eq=False)
class Stage:
    """The state of an answer while its steps are played."""

    builder: MessageBuilder
    signal: AbortSignal | None
    call_ids: Callable[[], str]
    stalled: asyncio.Event
    reason: StopReason = "stop"
    started: bool = False
    ended: bool = False

    def is_aborted(self) -> bool:
        """Whether the run was aborted."""
        return self.signal is not None and self.signal.aborted

    async def wait(self, seconds: float | None, *, ignoring_abort: bool = False) -> None:
        """Wait for so many seconds, or until the run is aborted; None waits only for the abort."""
        signal = None if ignoring_abort else self.signal
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await (asyncio.Event().wait() if signal is None else signal.wait())


@frozen(eq=False, repr=False)
class Step:
    """One step of a turn.

    Attributes:
        source: The source code of the step, for messages.
        play: Returns the events to yield, or a coroutine that returns them.
    """

    source: str
    play: Callable[[Stage], Iterable[Any] | Awaitable[Iterable[Any]]]

    def __repr__(self) -> str:
        return self.source


def text(text: str, /, chunks: int | Sequence[str] | None = None) -> Step:
    """Answer with text.

    Args:
        text: The text.
        chunks: The number of deltas, or the deltas themselves. None sends one delta.
    """
    pieces = _pieces(text, chunks)

    def play(stage: Stage) -> Iterable[Any]:
        start = stage.builder.text_start()
        yield start
        for piece in pieces:
            yield stage.builder.text(start.content_index, piece)
        yield stage.builder.text_end(start.content_index)

    return Step(f"text({text!r})", play)


def thinking(thinking: str, /, chunks: int | Sequence[str] | None = None) -> Step:
    """Answer with a thinking block; for ``chunks`` see ``text``."""
    pieces = _pieces(thinking, chunks)

    def play(stage: Stage) -> Iterable[Any]:
        start = stage.builder.thinking_start()
        yield start
        for piece in pieces:
            yield stage.builder.thinking(start.content_index, piece)
        yield stage.builder.thinking_end(start.content_index)

    return Step(f"thinking({thinking!r})", play)


def tool_call(
    name: str,
    /,
    call_id: str | None = None,
    *,
    arguments: Mapping[str, Any] | None = None,
    raw_arguments: str | None = None,
    **named: Any,
) -> Step:
    """Call a tool: ``tool_call("bash", command="ls")``. The arguments are sent in two deltas.

    Args:
        name: The tool's name.
        call_id: The id of the call. None uses ``call_1``, ``call_2`` and so on.
        arguments: The arguments as a mapping, for names that are not Python identifiers or are parameters of this
            function.
        raw_arguments: The arguments as literal text, whether or not it is valid JSON.
        named: The arguments.

    Raises:
        TypeError: The arguments are given in more than one way, or cannot be represented as JSON.
    """
    if sum((arguments is not None, raw_arguments is not None, bool(named))) > 1:
        raise TypeError("tool_call() takes named arguments, arguments= or raw_arguments=, one of them")
    if raw_arguments is None:
        raw_arguments = json.dumps(named if arguments is None else dict(arguments), ensure_ascii=False)
    pieces = _pieces(raw_arguments, 2)

    def play(stage: Stage) -> Iterable[Any]:
        start = stage.builder.tool_call_start(call_id or stage.call_ids(), name)
        yield start
        for piece in pieces:
            yield stage.builder.tool_call(start.content_index, piece)
        yield stage.builder.tool_call_end(start.content_index)

    return Step(f"tool_call({name!r}, {raw_arguments!r})", play)


def image(data: str = PNG, mime_type: str = "image/png") -> Step:
    """Answer with an image, as an image model does.

    Args:
        data: The image, in base64; by default a PNG of one pixel.
        mime_type: The type that the provider claims.
    """

    def play(stage: Stage) -> Iterable[Any]:
        stage.builder.image(data, mime_type)
        return ()

    return Step(f"image({data[:20]!r})", play)


def error(message: str, /) -> Step:
    """End with an ``Error``, as when the API rejects a request; as the first step, before any content is received."""

    def play(stage: Stage) -> Iterable[Any]:
        stage.ended = True
        return [stage.builder.fail(message)]

    return Step(f"error({message!r})", play)


def raises(exception: BaseException, /) -> Step:
    """Raise an exception from the stream, which a provider must only do for a missing key."""

    def play(_stage: Stage) -> Iterable[Any]:
        raise exception

    return Step(f"raises({exception!r})", play)


def delay(seconds: float, /) -> Step:
    """Wait for a number of seconds; an abort ends the wait and the answer."""

    async def play(stage: Stage) -> Iterable[Any]:
        await stage.wait(seconds)
        return ()

    return Step(f"delay({seconds!r})", play)


def stall(*, ignoring_abort: bool = False) -> Step:
    """Wait until the run is aborted; with ``ignoring_abort``, wait until the task is cancelled.

    ``await script.stalled()`` returns when an answer has reached this step.
    """

    async def play(stage: Stage) -> Iterable[Any]:
        stage.stalled.set()
        try:
            await stage.wait(None, ignoring_abort=ignoring_abort)
        finally:
            stage.stalled.clear()
        return ()

    return Step(f"stall(ignoring_abort={ignoring_abort})", play)


def unknown_event(type: str = "mystery", /) -> Step:  # noqa: A002 - the event's field
    """Send an event of an unknown type."""

    def play(stage: Stage) -> Iterable[Any]:
        return [_UnknownEvent(type, stage.builder)]

    return Step(f"unknown_event({type!r})", play)


def no_end() -> Step:
    """End the stream without a ``done`` or ``error`` event."""

    def play(stage: Stage) -> Iterable[Any]:
        stage.ended = True
        return ()

    return Step("no_end()", play)


def stop(reason: StopReason, /) -> Step:
    """End with a stop reason other than ``stop`` or ``toolUse``, for example ``length``.

    Raises:
        ValueError: The stop reason is not that of a successful answer; use ``error`` for failures.
    """
    if reason not in _GOOD_ENDS:
        raise ValueError(f"stop() takes {', '.join(_GOOD_ENDS)}, not {reason!r}; error(...) ends in an error")

    def play(stage: Stage) -> Iterable[Any]:
        stage.reason = reason
        return ()

    return Step(f"stop({reason!r})", play)


def usage(
    *,
    input: int = 0,  # noqa: A002 - as in Usage
    output: int = 0,
    cache_read: int = 0,
    cache_write: int = 0,
    cache_write_1h: int | None = None,
    cost: float | Cost = 0.0,
) -> Step:
    """Report the tokens and the cost of the turn.

    Args:
        input: Input tokens. The total is the sum of these four token counts.
        output: Output tokens.
        cache_read: Tokens read from the cache.
        cache_write: Tokens written to the cache.
        cache_write_1h: The part of them that is kept for an hour.
        cost: The total in US dollars, or a ``Cost``; the scripted model itself has no prices.
    """
    tokens = Usage(
        input=input,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
        cache_write_1h=cache_write_1h,
        total_tokens=input + output + cache_read + cache_write,
        cost=cost if isinstance(cost, Cost) else Cost(total=cost),
    )

    def play(stage: Stage) -> Iterable[Any]:
        stage.builder.usage = tokens
        return ()

    return Step(f"usage(input={input}, output={output}, cost={tokens.cost.total:g})", play)


_GOOD_ENDS = ("stop", "length", "toolUse", "deferred")


@frozen(eq=False)
class _UnknownEvent:
    type: str
    source: MessageBuilder = field(repr=False)

    @property
    def partial(self) -> Any:
        return self.source.partial()


def _pieces(text: str, chunks: int | Sequence[str] | None) -> tuple[str, ...]:
    """Split a text into nearly equal pieces, or validate the given pieces."""
    if chunks is None or isinstance(chunks, int):
        number = max(1, min(chunks or 1, len(text)))
        ends = [len(text) * each // number for each in range(number + 1)]
        return tuple(text[start:end] for start, end in pairwise(ends) if end > start)
    if "".join(chunks) != text:
        raise ValueError(f"chunks make {''.join(chunks)!r}, not {text!r}")
    return tuple(chunks)
