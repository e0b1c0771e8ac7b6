"""The objects that plugins get from a session: one ``ctx`` for all hooks until a reload, and a ``pi`` per plugin.

Their classes call the parts of a conversation, so they are defined above it, in ``plugin_api``, and passed in. The
parts are passed on as they are; if this module named their type, every part would depend on all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from pi_core.conversation.handles import Handles

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.host import PluginHost
    from pi_core.host.activated import ActivatedPlugin
    from pi_hookspecs import AbortSignal, PiContext, Tool, ToolCall, ToolContext, ToolUpdate

    MakeContext: TypeAlias = Callable[[Any], PiContext]
    MakeToolContext: TypeAlias = Callable[[Any, ToolCall, ToolUpdate, AbortSignal, Tool | None], ToolContext]

__all__ = ["PluginScope"]


class PluginScope:
    """Creates the objects through which plugins use a session, and retires them.

    Args:
        contexts_of: Returns the classes of ``ctx`` for the plugins of a host: that of hooks, and that of tool calls.
        pi_of: Returns a new ``pi`` for a plugin of a host.

    Attributes:
        handles: The ``pi`` objects in use.
        parts: The ``Parts`` that they use; ``open`` sets it and ``ctx``.
        ctx: The object that hooks and commands get.
    """

    parts: Any
    ctx: PiContext

    def __init__(
        self,
        contexts_of: Callable[[PluginHost], tuple[MakeContext, MakeToolContext]],
        pi_of: Callable[[PluginHost, str], ActivatedPlugin],
    ) -> None:
        self.handles = Handles()
        self.pi_of = pi_of
        self._contexts_of = contexts_of

    def open(self, parts: Any) -> None:
        """Let plugins use a session through its parts."""
        self.parts = parts
        self._make_context()

    def _make_context(self) -> None:
        make_context, self._make_tool_context = self._contexts_of(self.parts.runtime.host)
        self.ctx = make_context(self.parts)

    def renew(self, reason: str) -> None:
        """Retire the objects that plugins have, so that using them raises this text, and create a new ``ctx``."""
        self.handles.retire(reason)
        self._make_context()

    def for_tool_call(
        self, call: ToolCall, update: ToolUpdate, signal: AbortSignal, tool: Tool | None = None
    ) -> ToolContext:
        """Return the ``ctx`` of a tool call; ``tool`` is given if it is not the offered tool of its name."""
        return self._make_tool_context(self.parts, call, update, signal, tool)
