"""``pi.events``: plain data between the plugins of one session."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import shown
from pi_core.hooks.containment import reported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.hooks.containment import Contained
    from pi_core.plugin_api.api import PluginAPI

__all__ = ["Bus", "PluginEvents"]

DEEPEST = 50
"""How many emits may stand inside each other: two handlers that answer each other would never end, and four might
take longer than anybody lives."""

MOST_RUNNING = 1000
"""How many ``async`` handlers may run at a time; those that answer each other become ever more."""


class _Circle(BaseException):
    """Ends all emits that stand inside each other; no ``Exception``, so that no handler swallows it by habit."""


class Bus:
    """Who hears which channel.

    Args:
        complain: Told of a handler's failure: plugin, step, message, stack.
    """

    def __init__(self, complain: Callable[[str, str, str, str | None], None]) -> None:
        self._complain = complain
        self._heard: dict[str, list[tuple[str, Callable[[Any], Any]]]] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._full = False
        self._emitting: list[str] = []

    def add(self, plugin: str, channel: str, handler: Callable[[Any], Any]) -> Callable[[], None]:
        """Hear a channel; returns the way to unsubscribe."""
        mine = (plugin, handler)
        heard = self._heard.setdefault(channel, [])
        heard.append(mine)

        def remove() -> None:
            heard[:] = [each for each in heard if each is not mine]

        return remove

    def emit(self, channel: str, data: Any) -> None:
        """Tell all, in the order in which they subscribed; nobody waits for those that are ``async``."""
        if len(self._emitting) >= DEEPEST:
            raise _Circle
        self._emitting.append(channel)
        try:
            for plugin, handler in tuple(self._heard.get(channel, ())):
                self._tell(plugin, channel, handler, data)
        finally:
            self._emitting.pop()

    def _tell(self, plugin: str, channel: str, handler: Callable[[Any], Any], data: Any) -> None:
        try:
            with self._reported(plugin, channel):
                waiting = handler(data)
                if hasattr(waiting, "__await__"):
                    self._run(plugin, channel, waiting)
        except _Circle:
            if len(self._emitting) > 1:
                raise
            message = f"Channel {channel!r} has a cycle: its handlers emit what calls them again"
            self._complain(plugin, "events", message, None)

    def _run(self, plugin: str, channel: str, waiting: Awaitable[Any]) -> None:
        """Let an ``async`` handler run by itself; where too many do already, it does not, which is told once."""
        if len(self._running) < MOST_RUNNING:
            task = asyncio.get_running_loop().create_task(self._finish(plugin, channel, waiting))
            self._running.add(task)
            task.add_done_callback(self._done)
            return
        getattr(waiting, "close", bool)()
        if not self._full:
            self._full = True
            message = (
                f"{MOST_RUNNING} handlers of channels are still running, so one of channel {channel!r} was left out"
            )
            self._complain(plugin, "events", message, None)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._full = self._full and bool(self._running)

    def close(self) -> None:
        """Stop the handlers that run, and tell nobody any more."""
        self._heard.clear()
        for task in self._running:
            task.cancel()

    async def _finish(self, plugin: str, channel: str, waiting: Awaitable[Any]) -> None:
        with self._reported(plugin, channel):
            await waiting

    def _reported(self, plugin: str, channel: str) -> Contained:
        return reported(self._complain, plugin, "events", f"on channel {channel!r}", passing=_Circle)


class PluginEvents:
    """The bus as one plugin has it; implements ``EventBus``."""

    def __init__(self, pi: PluginAPI) -> None:
        self._pi = pi

    def on(self, channel: str, handler: Any = None, /) -> Any:
        """Hear a channel: a decorator, and a function that returns the way to unsubscribe."""
        if not isinstance(channel, str):
            raise TypeError(f"pi.events.on takes its channel first, a text: it got {shown(channel)}")
        what, plugin = ("channel", channel), self._pi.plugin
        return self._pi.register_by(
            what, handler, lambda function: lambda session: session.bus.add(plugin, channel, function)
        )

    def emit(self, channel: str, data: Any = None, /) -> None:
        """Tell everybody who hears the channel."""
        self._pi.emit_on(channel, data)
