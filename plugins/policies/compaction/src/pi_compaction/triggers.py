"""Automatic compaction: before a prompt, between turns, after a run, after an overflow.

The check has constant cost, independent of the conversation's length.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pi_hookspecs  # modules that only a compaction needs are imported on use
from pi_hookspecs import AssistantMessage, MessageEntry, PiError

if TYPE_CHECKING:
    from pi_compaction.limits import Limits
    from pi_hookspecs import (
        AgentBeforeSettleEvent,
        AgentBeforeSettleResult,
        BeforeAgentStartEvent,
        Compaction,
        CompactionReason,
        PiAPI,
        PiContext,
        TurnEndEvent,
    )

__all__ = ["OVERFLOWED_AGAIN", "Triggers"]

OVERFLOWED_AGAIN = (
    "Context overflow recovery failed after one compact-and-retry attempt. Try reducing context or switching to a"
    " larger-context model."
)
_IMAGE_TOKENS = 1200


class Triggers:
    """Monitors one session's context."""

    def __init__(self) -> None:
        from pi_compaction.size import ContextSize

        self._size = ContextSize()
        self._tried_at: int | None = None
        self._recovered = False

    def listen(self, pi: PiAPI) -> None:
        """Subscribe to the session's boundaries."""
        pi.on("session_start", self.begin)
        pi.on("session_tree", self.moved)
        pi.on("before_agent_start", self.before_prompt)
        pi.on("turn_end", self.between_turns)
        pi.on("agent_before_settle", self.after_run)

    def begin(self) -> None:
        """Reset the state when the session changes."""
        self._tried_at = None
        self._recovered = False

    def moved(self, ctx: PiContext) -> None:
        """Do not compact a context that the user navigated to before it grows."""
        self._tried_at = self._size.of(ctx)

    async def before_prompt(self, event: BeforeAgentStartEvent, ctx: PiContext) -> None:
        """Compact before a prompt if needed, also after an aborted answer."""
        self._recovered = False
        limits, answer = _limits(ctx), _last_answer(ctx)
        if limits is None or answer is None:
            return
        if answer.stop_reason == "error" and _overflowed(answer, ctx):
            await self._compact(ctx, "overflow")
            return
        prompt = len(event.prompt) // 4 + _IMAGE_TOKENS * len(event.images)
        await self._compact_if_full(ctx, limits, prompt)

    async def between_turns(self, event: TurnEndEvent, ctx: PiContext) -> None:
        """Compact between turns if needed, before the next request of the run."""
        answer = event.message
        if answer.stop_reason in {"error", "aborted"}:
            return
        if answer.stop_reason != "length":
            self._recovered = False
        goes_on = bool(event.tool_results) or ctx.has_pending_messages()
        limits = _limits(ctx) if goes_on and not _is_aborted(ctx) else None
        if limits is not None:
            await self._compact_if_full(ctx, limits)

    async def after_run(self, event: AgentBeforeSettleEvent, ctx: PiContext) -> AgentBeforeSettleResult | None:
        """Compact after a run if needed; continue once a run whose request did not fit."""
        limits = _limits(ctx)
        if limits is None or event.outcome == "aborted":
            return None
        answer = _last_answer(ctx)
        if answer is None or answer.stop_reason == "aborted":
            return None
        if _is_cut_short(answer, ctx):
            return await self._recover(answer, ctx)
        if _overflowed(answer, ctx):
            await self._compact(ctx, "overflow")
        else:
            await self._compact_if_full(ctx, limits)
        return None

    async def _recover(self, answer: AssistantMessage, ctx: PiContext) -> AgentBeforeSettleResult | None:
        """Compact and retry, once for each user message."""
        if self._recovered:
            if answer.stop_reason == "error":
                from pi_hookspecs import CompactionEndEvent

                await ctx.emit(CompactionEndEvent(reason="overflow", error_message=OVERFLOWED_AGAIN))
            return None
        self._recovered = True
        made = await self._compact(ctx, "overflow", will_retry=True)
        return pi_hookspecs.AgentBeforeSettleResult(continue_=True) if made is not None else None

    async def _compact_if_full(self, ctx: PiContext, limits: Limits, coming: int = 0) -> None:
        """Compact a context that is too large.

        After an attempt that failed or freed little, wait until half of the remaining space is used: a conversation
        that cannot be shortened enough must not be summarised at every turn.
        """
        size = self._size.of(ctx) + coming
        full = limits.full
        if (
            self._tried_at is not None and self._tried_at < limits.window
        ):  # the model, and so the window, may have changed
            full = max(full, (self._tried_at + limits.window) // 2)
        if size > full:
            await self._compact(ctx, "threshold")

    async def _compact(
        self, ctx: PiContext, reason: CompactionReason, *, will_retry: bool = False
    ) -> Compaction | None:
        """Compact; a failure is reported by events, and the prompt continues without a compaction."""
        made = None
        with suppress(PiError):
            made = await ctx.compact(reason=reason, will_retry=will_retry)
        self._tried_at = self._size.of(ctx)
        return made


def _limits(ctx: PiContext) -> Limits | None:
    """Return the limits; None if automatic compaction is off."""
    from pi_compaction.limits import limits_of

    limits = limits_of(ctx)
    return limits if limits is not None and limits.enabled and limits.window > 0 else None


def _last_answer(ctx: PiContext) -> AssistantMessage | None:
    """Return the branch's last answer; None if it is older than the last compaction."""
    for entry in reversed(ctx.session.branch()):
        if entry.type == "compaction":
            return None
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            return entry.message
    return None


def _overflowed(answer: AssistantMessage, ctx: PiContext) -> bool:
    """Whether an answer of the current model shows that the conversation does not fit its window."""
    from pi_core import is_context_overflow

    model = ctx.model
    if model is None or (answer.provider, answer.model) != (model.provider, model.id):
        return False
    return is_context_overflow(answer, model.context_window)


def _is_cut_short(answer: AssistantMessage, ctx: PiContext) -> bool:
    """Whether an answer of the current model failed, or ended early, because the window was full."""
    from pi_core import is_recoverable_length

    model = ctx.model
    if model is None or (answer.provider, answer.model) != (model.provider, model.id):
        return False
    if answer.stop_reason == "length":
        return is_recoverable_length(answer, model.max_tokens)
    return answer.stop_reason == "error" and _overflowed(answer, ctx)


def _is_aborted(ctx: PiContext) -> bool:
    return ctx.signal is not None and ctx.signal.aborted
