"""The objects that plugins get from a session: one ``ctx`` for all hooks until a reload, and a ``pi`` per plugin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.plugin_api.context import PluginContext, ToolCallContext
from pi_core.plugin_api.deprecated_use import noting_context
from pi_core.plugin_api.handles import Handles

if TYPE_CHECKING:
    from pi_core.plugin_api.port import SessionPort
    from pi_hookspecs import AbortSignal, Tool, ToolCall, ToolUpdate

__all__ = ["PluginScope"]


class PluginScope:
    """Creates the objects through which plugins use a session, and retires them.

    Attributes:
        handles: The ``pi`` objects in use.
        port: The interface of the session that they use; ``open`` sets it and ``ctx``.
        ctx: The object that hooks and commands get.
    """

    port: SessionPort
    ctx: PluginContext

    def __init__(self) -> None:
        self.handles = Handles()

    def open(self, port: SessionPort) -> None:
        """Let plugins use a session through a port."""
        self.port = port
        self._make_context()

    def _make_context(self) -> None:
        self._tool_context = self._class_of(ToolCallContext)
        self.ctx = self._class_of(PluginContext)(self.port)

    def _class_of(self, cls: type) -> Any:
        if not self.port.host.held:
            return noting_context(cls)
        from pi_core.plugin_api.held import held_context  # few plugins have grants

        return held_context(noting_context(cls), self.port.host)

    def renew(self, reason: str) -> None:
        """Retire the objects that plugins have, so that using them raises this text, and create a new ``ctx``."""
        self.handles.retire(reason)
        self._make_context()

    def for_tool_call(
        self, call: ToolCall, update: ToolUpdate, signal: AbortSignal, tool: Tool | None = None
    ) -> ToolCallContext:
        """Return the ``ctx`` of a tool call; ``tool`` is given if it is not the offered tool of its name."""
        made: ToolCallContext = self._tool_context(self.port, call, update, signal, tool)
        return made
