"""``Bus``: plain data between the plugins of one session, and the limits of handlers that emit to each other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core.hooks.containment import reported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.hooks.containment import Contained

__all__ = ["Bus"]

MAX_DEPTH = 50
"""The maximum nesting of emits. Two handlers that emit to each other would recurse forever, and a few handlers that
each emit twice would take exponential time."""

MAX_RUNNING = 1000
"""The maximum number of running ``async`` handlers. Handlers that emit to each other would multiply without limit."""


class _Cycle(BaseException):
    """Ends all nested emits; a ``BaseException``, so that ``except Exception`` in a handler does not catch it."""


class Bus:
    """Calls the handlers of a channel.

    Args:
        report: Called with a handler's failure: plugin, step, message, stack.
    """

    def __init__(self, report: Callable[[str, str, str, str | None], None]) -> None:
        self._report = report
        self._handlers: dict[str, list[tuple[str, Callable[[Any], Any]]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._full = False
        self._emitting: list[str] = []

    def add(self, plugin: str, channel: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Subscribe a handler to a channel; return a function that unsubscribes."""
        subscription = (plugin, handler)
        handlers = self._handlers.setdefault(channel, [])
        handlers.append(subscription)

        def remove() -> None:
            handlers[:] = [each for each in handlers if each is not subscription]

        return remove

    def emit(self, channel: str, data: Any) -> None:
        """Call the handlers in order of subscription; ``async`` handlers run as tasks and are not awaited."""
        if len(self._emitting) >= MAX_DEPTH:
            raise _Cycle
        self._emitting.append(channel)
        try:
            for plugin, handler in tuple(self._handlers.get(channel, ())):
                self._call(plugin, channel, handler, data)
        finally:
            self._emitting.pop()

    def _call(self, plugin: str, channel: str, handler: Callable[[Any], Any], data: Any) -> None:
        try:
            with self._reported(plugin, channel):
                waiting = handler(data)
                if hasattr(waiting, "__await__"):
                    self._run(plugin, channel, waiting)
        except _Cycle:
            if len(self._emitting) > 1:
                raise
            message = f"Channel {channel!r} has a cycle: its handlers emit events that call them again"
            self._report(plugin, "events", message, None)

    def _run(self, plugin: str, channel: str, waiting: Awaitable[Any]) -> None:
        """Run an ``async`` handler as a task; if too many are running it is dropped, which is reported once."""
        if len(self._running) < MAX_RUNNING:
            task = asyncio.get_running_loop().create_task(self._finish(plugin, channel, waiting))
            self._running.add(task)
            task.add_done_callback(self._done)
            return
        getattr(waiting, "close", bool)()
        if not self._full:
            self._full = True
            message = (
                f"{MAX_RUNNING} handlers of channels are still running, so a handler of channel {channel!r} was not "
                f"called"
            )
            self._report(plugin, "events", message, None)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._full = self._full and bool(self._running)

    def close(self) -> None:
        """Cancel the running handlers and remove all subscriptions."""
        self._handlers.clear()
        for task in self._running:
            task.cancel()

    async def _finish(self, plugin: str, channel: str, waiting: Awaitable[Any]) -> None:
        with self._reported(plugin, channel):
            await waiting

    def _reported(self, plugin: str, channel: str) -> Contained:
        return reported(self._report, plugin, "events", f"on channel {channel!r}", passing=_Cycle)
