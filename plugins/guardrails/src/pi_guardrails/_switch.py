"""Puts the guard on duty for a session whose settings ask for it; a session that does not pays one look."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_guardrails._limits import Limits
    from pi_hookspecs import (
        AgentSettledEvent,
        ContextEvent,
        ContextResult,
        PiAPI,
        PiContext,
        SessionStartEvent,
        ToolCallEvent,
        ToolCallResult,
        UserBashEvent,
        UserBashResult,
    )

__all__ = ["Switch"]


class Switch:
    """One session's guard.

    Args:
        pi: Where the hooks are added while ``guardrails.enabled`` is true.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._off: list[Callable[[], None]] = []
        self._limits: Limits | None = None

    def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Go on duty, or off."""
        while self._off:
            self._off.pop()()
        self._limits = None
        if not ctx.settings.get_bool("guardrails.enabled", default=False):
            return
        # First of all, so that whatever fails below leaves the gate shut and not open.
        self._off += [self._pi.on("tool_call", self.tool_call), self._pi.on("user_bash", self.user_bash)]
        from pi_guardrails._limits import Limits

        limits = Limits(ctx.settings)
        if limits.any:
            limits.begin(ctx.session.entries())
            self._limits = limits
            self._off += [self._pi.on("context", self.context), self._pi.on("agent_settled", self.agent_settled)]

    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Judge the model's call."""
        from pi_guardrails._guard import refusal
        from pi_hookspecs import ToolCallResult

        reason = self._limits.tool_call(ctx) if self._limits is not None else None
        reason = reason or await refusal(event.tool_name, event.input, ctx)
        return None if reason is None else ToolCallResult(block=True, reason=reason)

    async def user_bash(self, event: UserBashEvent, ctx: PiContext) -> UserBashResult | None:
        """Judge the user's own command."""
        from pi_guardrails._guard import refusal
        from pi_hookspecs import BashExecutionMessage, UserBashResult, now_ms

        reason = await refusal("bash", {"command": event.command}, ctx)
        if reason is None:
            return None
        refused = BashExecutionMessage(command=event.command, output=reason, cancelled=True, timestamp=now_ms())
        return UserBashResult(result=refused)

    def context(self, _event: ContextEvent, ctx: PiContext) -> ContextResult | None:
        """Refuse the request when a limit is reached."""
        from pi_hookspecs import ContextResult

        reason = self._limits.request(ctx) if self._limits is not None else None
        return None if reason is None else ContextResult(block=True, reason=reason)

    def agent_settled(self, _event: AgentSettledEvent, ctx: PiContext) -> None:
        """Begin to count anew for the next run."""
        if self._limits is not None:
            self._limits.end_run(ctx.session.entries())
