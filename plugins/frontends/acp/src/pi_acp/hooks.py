"""The plugin in each of an editor's sessions: permissions, the editor's files and terminals, its MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import ToolCallResult, hookimpl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_acp.session import EditorSession
    from pi_hookspecs import PiAPI, PiContext, ToolCallEvent

__all__ = ["SessionHooks"]


class SessionHooks:
    """Hooks of one session; implements ``ToolOperations``.

    Args:
        owner: The session.
        servers: MCP servers of the editor, by name.
    """

    def __init__(self, owner: EditorSession, servers: Mapping[str, dict[str, Any]]) -> None:
        self._owner = owner
        self._servers = servers

    @hookimpl
    def activate(self, pi: PiAPI) -> None:
        """Register the editor's MCP servers for this session."""
        for name, config in self._servers.items():
            pi.register_mcp_server(name, config)

    @hookimpl(trylast=True)
    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Ask the user, according to the session's mode, about a call after all other plugins have handled it."""
        ui: Any = ctx.ui  # that of this front end, which has more than the contract's
        reason = await ui.permit_call(event, ctx.signal)
        return None if reason is None else ToolCallResult(block=True, reason=reason)

    @hookimpl
    def register_services(self) -> Sequence[Any]:
        """Redirect tools to the editor, as far as it can."""
        can = self._owner.client.can
        return [self] if can.reads_files or can.writes_files or can.has_terminals else []

    def files(self, ctx: PiContext) -> Any:
        """Return the editor's files for a call about one of them."""
        return self._owner.files_of(getattr(ctx, "call_id", ""), getattr(ctx, "tool_name", ""))

    def commands(self, ctx: PiContext) -> Any:
        """Return the editor's terminals if the user has set ``acp.terminal``."""
        if not ctx.settings.get_bool("acp.terminal", default=False):
            return None
        return self._owner.terminals(getattr(ctx, "call_id", ""))
