"""``pi.events``: the bus for plain data between plugins, as one plugin uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.conversation.event_bus import Bus

__all__ = ["PluginEvents"]


class PluginEvents:
    """The bus for one plugin; implements ``EventBus``.

    Args:
        plugin: The plugin's name.
        register: ``PluginAPI.register_by``, which queues subscriptions until there is a session.
        bus: Returns the session's bus.
    """

    def __init__(self, plugin: str, register: Callable[..., Any], bus: Callable[[], Bus]) -> None:
        self._plugin = plugin
        self._register = register
        self._bus = bus

    def on(self, channel: str, handler: Any = None, /) -> Any:
        """Subscribe to a channel, directly or as a decorator; the direct call returns a function that unsubscribes."""
        if not isinstance(channel, str):
            raise TypeError(
                f"pi.events.on takes its channel as the first argument, a string; it got {safe_repr(channel)}"
            )
        what, plugin = ("channel", channel), self._plugin
        return self._register(what, handler, lambda function: lambda parts: parts.bus.add(plugin, channel, function))

    def emit(self, channel: str, data: Any = None, /) -> None:
        """Call every handler of the channel."""
        self._bus().emit(channel, data)
