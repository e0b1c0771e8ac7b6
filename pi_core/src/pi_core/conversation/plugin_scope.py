"""What plugins hold of a session: ``ctx``, the same for every hook until a reload, and the ``pi`` of each."""

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
    """Makes the objects through which plugins use a session, and retires them.

    Attributes:
        handles: Those in use.
        port: What they use of the session; set by ``open``, as is ``ctx``.
        ctx: What hooks and commands get.
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
        """Retire what plugins hold, with the text of the error that its use raises, and give them a new ``ctx``."""
        self.handles.retire(reason)
        self._make_context()

    def for_tool_call(
        self, call: ToolCall, update: ToolUpdate, signal: AbortSignal, tool: Tool | None = None
    ) -> ToolCallContext:
        """Return the ``ctx`` of a tool call; ``tool`` where it is not the offered one of its name."""
        made: ToolCallContext = self._tool_context(self.port, call, update, signal, tool)
        return made
