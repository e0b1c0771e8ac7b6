"""Enables the guard in sessions whose settings turn it on; other sessions pay for one lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_guardrails.rate import Rate
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
        self._rate: Rate | None = None
        self._mistake: str | None = None

    async def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Enable or disable the guard; refuse everything while its settings are invalid."""
        self._go_off()
        if ctx.settings.get("guardrails") is None and ctx.settings.unread("guardrails") is None:
            return
        # First of all, so that whatever fails below leaves the gate shut and not open.
        self._off += [self._pi.on("tool_call", self.tool_call), self._pi.on("user_bash", self.user_bash)]
        from pi_guardrails.guard import until_mended
        from pi_guardrails.policy import Policy
        from pi_guardrails.rate import Rate
        from pi_guardrails.settings import is_enabled

        try:
            if not is_enabled(ctx.settings):
                self._go_off()
                given = ctx.settings.get("guardrails")
                others = {key for key, value in given.items() if value} if isinstance(given, dict) else set()
                if others and given.get("enabled") is None:  # if it is false, the user has switched the guard off
                    names = ", ".join(f"guardrails.{each}" for each in sorted(others))
                    ctx.ui.notify(f"{names} has no effect: guardrails.enabled is not set.", "warning")
                return
            Policy.of(ctx)
            rate = Rate(ctx.settings)
            await self._check_budgets(rate)
        except UserError as error:
            self._mistake = until_mended("every run", error)
            self._off.append(self._pi.on("context", self.context))
            return
        if rate.is_limited:
            self._rate = rate
            self._off.append(self._pi.on("agent_settled", self.agent_settled))

    async def _check_budgets(self, rate: Rate) -> None:
        """Check that the plugin ``budgets`` is loaded if needed: it enforces all limits but the tool call rate.

        Raises:
            UserError: It is needed and is not loaded.
        """
        if rate.needs_budgets and all(command.name != "budget" for command in await self._pi.get_commands()):
            raise UserError("guardrails.limits are kept by the plugin 'budgets', which is not loaded")

    def _go_off(self) -> None:
        while self._off:
            self._off.pop()()
        self._rate = self._mistake = None

    async def tool_call(self, event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
        """Judge the model's call."""
        from pi_guardrails.guard import refusal
        from pi_hookspecs import ToolCallResult

        reason = self._mistake or (self._rate.tool_call(ctx) if self._rate is not None else None)
        is_confined = event.tool is not None and event.tool.annotations.destructive is False
        reason = reason or await refusal(event.tool_name, event.input, ctx, is_confined=is_confined)
        return None if reason is None else ToolCallResult(block=True, reason=reason)

    async def user_bash(self, event: UserBashEvent, ctx: PiContext) -> UserBashResult | None:
        """Judge the user's own command."""
        from pi_guardrails.guard import refusal
        from pi_hookspecs import BashExecutionMessage, UserBashResult, now_ms

        reason = self._mistake or await refusal("bash", {"command": event.command}, ctx)
        if reason is None:
            return None
        refused = BashExecutionMessage(command=event.command, output=reason, cancelled=True, timestamp=now_ms())
        return UserBashResult(result=refused)

    def context(self, _event: ContextEvent, _ctx: PiContext) -> ContextResult:
        """Refuse the request, because the settings are invalid."""
        from pi_hookspecs import ContextResult

        return ContextResult(block=True, reason=self._mistake)

    def agent_settled(self, _event: AgentSettledEvent) -> None:
        """Reset the run's counters for the next run."""
        if self._rate is not None:
            self._rate.end_run()
