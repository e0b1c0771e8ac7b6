"""``session.stream``: a prompt's events for one consumer, which may leave at any time."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.agent.subscribers import Listener
    from pi_hookspecs import AbortSignal

__all__ = ["PromptFeed", "PromptStream", "TextStream"]

MAX_BUFFERED = 1000
"""Maximum number of events that wait for a slow consumer; beyond that the run waits."""


class PromptStream:
    """The events of one prompt, for ``async for``; see ``AgentSession.stream``.

    Args:
        feed: The source of the events.
    """

    def __init__(self, feed: PromptFeed) -> None:
        self._feed = feed

    def __aiter__(self) -> PromptStream:
        return self

    async def __anext__(self) -> Any:
        return await self._feed.next()

    def text(self) -> TextStream:
        """Return only the text of the answers, piece by piece, with an empty line between two texts."""
        return TextStream(self)

    async def aclose(self) -> None:
        """Leave the stream: abort its prompt if it is still being answered, and wait until it has settled."""
        self._feed.leave()
        await self._feed.ended()

    def __del__(self) -> None:
        self._feed.leave_soon()  # a loop that ended early has dropped its iterator


class TextStream:
    """The text of a stream of events, for ``async for``; leaving it leaves the stream.

    Args:
        stream: The events.
    """

    def __init__(self, stream: PromptStream) -> None:
        self._stream = stream
        self._gap = ""

    def __aiter__(self) -> TextStream:
        return self

    async def __anext__(self) -> str:
        async for event in self._stream:
            update = event.assistant_message_event if event.type == "message_update" else event
            if update.type == "text_delta" and update.delta:
                gap, self._gap = self._gap, ""
                return f"{gap}{update.delta}"
            if update.type == "text_end" and update.content:
                self._gap = "\n\n"
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Leave the stream; see ``PromptStream.aclose``."""
        await self._stream.aclose()


class PromptFeed:
    """Answers a prompt in a separate task, and keeps the events that the consumer has not yet taken.

    The task has no reference to the stream, so a stream that is no longer referenced counts as left.

    Args:
        subscribe: Subscribes to the session's events; returns a function that unsubscribes.
        request_abort: Aborts the prompt.
        begin: Sends the prompt, and calls its argument when the prompt is accepted; called when the consumer takes the
            first event.
    """

    def __init__(
        self,
        subscribe: Callable[[Listener], Callable[[], None]],
        request_abort: Callable[[str], None],
        begin: Callable[[Callable[[str], None]], Awaitable[object]],
    ) -> None:
        self._subscribe = subscribe
        self._request_abort = request_abort
        self._begin = begin
        self._events: deque[Any] = deque()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None] | None = None
        self._is_read = self._is_settled = False
        self.is_left = False

    # The consumer

    async def next(self) -> Any:
        """Return the next event.

        Raises:
            StopAsyncIteration: The prompt has settled, or the stream was left.
            PiError: Another task is already reading, or the prompt cannot be sent; see ``AgentSession.prompt``.
        """
        if self._is_read:
            raise PiError("Another task is already reading this stream; each event can be read only once")
        self._is_read = True
        try:
            return await self._taken()
        except asyncio.CancelledError:
            self.leave()
            raise
        finally:
            self._is_read = False

    async def _taken(self) -> Any:
        if self._task is None and not self.is_left:
            self._task = self._loop.create_task(self._run())
            self._task.add_done_callback(self._end)
        while not self._events:
            if self._task is None or self.is_left:
                raise StopAsyncIteration
            if self._task.done():
                self.is_left = True
                self._task.result()
                raise StopAsyncIteration
            self._news.clear()
            await self._news.wait()
        self._room.set()
        return self._events.popleft()

    def leave(self) -> None:
        """Abort the prompt if it is still being answered; no more events are returned."""
        self.is_left = True
        self._events.clear()
        self._news.set()
        self._room.set()
        if self.is_answered:
            self._request_abort("The consumer left the stream")

    def leave_soon(self) -> None:
        """Leave from any thread, because the garbage collector may run in another thread."""
        self.is_left = True
        if self.is_answered:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.leave)

    @property
    def is_answered(self) -> bool:
        """Whether the prompt is being answered: it has begun and has not settled."""
        return self._task is not None and not self._task.done() and not self._is_settled

    async def ended(self) -> None:
        """Return when the prompt has settled."""
        if self._task is not None:
            await asyncio.wait([self._task])

    # The run

    async def _run(self) -> None:
        with ExitStack() as subscription:

            def on_accepted(_outcome: str) -> None:
                """Take events from here on, because earlier events belong to another prompt."""
                subscription.callback(self._subscribe(self._on_event))
                if self.is_left:  # it was left before there was a prompt to abort
                    self.leave()

            await self._begin(on_accepted)

    def _end(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled():
            task.exception()  # retrieved even if the consumer has left
        self._news.set()

    def _on_event(self, event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        """Keep an event; if there are too many, wait until there is room."""
        self._is_settled = self._is_settled or event.type == "agent_settled"
        if self._has_room(signal):
            self._keep(event)
            return None
        return self._keep_later(event, signal)

    async def _keep_later(self, event: Any, signal: AbortSignal | None) -> None:
        forget = signal.on_abort(self._room.set) if signal is not None else None
        while not self._has_room(signal):
            self._room.clear()
            await self._room.wait()
        if forget is not None:
            forget()
        self._keep(event)

    def _has_room(self, signal: AbortSignal | None) -> bool:
        """Whether the run may continue; it always may at its end, for which the consumer may be waiting."""
        is_ending = self._is_settled or self.is_left or (signal is not None and signal.aborted)
        return is_ending or len(self._events) < MAX_BUFFERED

    def _keep(self, event: Any) -> None:
        if not self.is_left:
            self._events.append(event)
            self._news.set()
