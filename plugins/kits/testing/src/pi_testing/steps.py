"""The steps of a scripted turn: what each does to the stream of an answer."""

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

__all__ = [
    "Stage",
    "Step",
    "delay",
    "error",
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
    """An answer while it is played; what a step works on."""

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
        """Wait that long, for ever with None, or until the run is aborted."""
        signal = None if ignoring_abort else self.signal
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await (asyncio.Event().wait() if signal is None else signal.wait())


@frozen(eq=False, repr=False)
class Step:
    """One thing that a turn does.

    Attributes:
        source: How it was written, for messages.
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
        chunks: How many deltas it comes in, or the deltas themselves; one when None.
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
    """Think something; ``chunks`` as in ``text``."""
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
    """Call a tool: ``tool_call("bash", command="ls")``. The arguments come in two deltas.

    Args:
        name: The tool.
        call_id: Id of the call; ``call_1``, ``call_2`` and so on when None.
        arguments: The arguments as a mapping, for names that Python cannot say or that stand here already.
        raw_arguments: The argument text as it is, whether or not it is JSON.
        named: The arguments.

    Raises:
        TypeError: The arguments are given in more than one way, or JSON cannot hold them.
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


def error(message: str, /) -> Step:
    """End with an ``Error``, as when the API refuses; as the first step, before anything was received."""

    def play(stage: Stage) -> Iterable[Any]:
        stage.ended = True
        return [stage.builder.fail(message)]

    return Step(f"error({message!r})", play)


def raises(exception: BaseException, /) -> Step:
    """Let the stream raise, which a provider must not do but for a missing key."""

    def play(_stage: Stage) -> Iterable[Any]:
        raise exception

    return Step(f"raises({exception!r})", play)


def delay(seconds: float, /) -> Step:
    """Wait; an abort ends the waiting and the answer."""

    async def play(stage: Stage) -> Iterable[Any]:
        await stage.wait(seconds)
        return ()

    return Step(f"delay({seconds!r})", play)


def stall(*, ignoring_abort: bool = False) -> Step:
    """Wait until the run is aborted; ``ignoring_abort`` waits on until the task is cancelled.

    ``await script.stalled()`` returns when an answer has come here.
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
    """Send an event of a type that no stream has."""

    def play(stage: Stage) -> Iterable[Any]:
        return [_UnknownEvent(type, stage.builder)]

    return Step(f"unknown_event({type!r})", play)


def no_end() -> Step:
    """End the stream without ``done`` or ``error``."""

    def play(stage: Stage) -> Iterable[Any]:
        stage.ended = True
        return ()

    return Step("no_end()", play)


def stop(reason: StopReason, /) -> Step:
    """End for another reason than ``stop`` or ``toolUse``, for example ``length``.

    Raises:
        ValueError: The reason is not one that an answer ends well for; for failures there is ``error``.
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
    cost: float | Cost = 0.0,
) -> Step:
    """Say how many tokens the turn took, and what it cost.

    Args:
        input: Tokens that were read; with the next three they make the total.
        output: Tokens that were written.
        cache_read: Tokens that were read from a cache.
        cache_write: Tokens that were written into one.
        cost: Dollars in total, or a ``Cost``; the scripted model itself has no prices.
    """
    tokens = Usage(
        input=input,
        output=output,
        cache_read=cache_read,
        cache_write=cache_write,
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
    """Cut a text into nearly equal pieces, or check the pieces that were given."""
    if chunks is None or isinstance(chunks, int):
        number = max(1, min(chunks or 1, len(text)))
        ends = [len(text) * each // number for each in range(number + 1)]
        return tuple(text[start:end] for start, end in pairwise(ends) if end > start)
    if "".join(chunks) != text:
        raise ValueError(f"chunks make {''.join(chunks)!r}, not {text!r}")
    return tuple(chunks)
