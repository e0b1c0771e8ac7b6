"""``pi.events``: plain data between the plugins of one session (pi.md 10.3)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_core._plugin_text import said, stack_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.agent_session.plugin_api import PluginAPI

__all__ = ["Bus", "PluginEvents"]


class Bus:
    """Who hears which channel.

    Args:
        complain: Told of a handler's failure: plugin, step, message, stack.
    """

    def __init__(self, complain: Callable[[str, str, str, str | None], None]) -> None:
        self._complain = complain
        self._heard: dict[str, list[tuple[str, Callable[[Any], Any]]]] = {}
        self._running: set[asyncio.Task[None]] = set()

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
        for plugin, handler in tuple(self._heard.get(channel, ())):
            try:
                waiting = handler(data)
                if hasattr(waiting, "__await__"):
                    task = asyncio.get_running_loop().create_task(self._finish(plugin, channel, waiting))
                    self._running.add(task)
                    task.add_done_callback(self._running.discard)
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, SystemExit included
                self._blame(plugin, channel, error)

    def close(self) -> None:
        """Stop the handlers that run, and tell nobody any more."""
        self._heard.clear()
        for task in self._running:
            task.cancel()

    async def _finish(self, plugin: str, channel: str, waiting: Awaitable[Any]) -> None:
        try:
            await waiting
        except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - as above
            self._blame(plugin, channel, error)

    def _blame(self, plugin: str, channel: str, error: BaseException) -> None:
        message = f"Plugin {plugin!r} failed on channel {channel!r}: {said(error)}"
        self._complain(plugin, "events", message, stack_of(error))


class PluginEvents:
    """The bus as one plugin has it; implements ``EventBus``."""

    def __init__(self, pi: PluginAPI) -> None:
        self._pi = pi

    def on(self, channel: str, handler: Any = None, /) -> Any:
        """Hear a channel: a decorator, and a function that returns the way to unsubscribe."""
        what, plugin = ("channel", channel), self._pi.plugin
        return self._pi.register_by(
            what, handler, lambda function: lambda session: session.bus.add(plugin, channel, function)
        )

    def emit(self, channel: str, data: Any = None, /) -> None:
        """Tell everybody who hears the channel."""
        self._pi.emit_on(channel, data)
