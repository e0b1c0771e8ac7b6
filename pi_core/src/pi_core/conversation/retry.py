"""Retries of failed requests, as the installed ``Retrier`` decides.

The plugin decides which errors to retry, how often, how long to wait, and which part of a refused request is left out.
This module emits events, waits until the delay or an abort ends the wait, and removes the failed answer from the
model's context, but not from the session.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pi_hookspecs  # events are loaded on first use, because most runs use none of them
from pi_core.agent.safe_text import checked_answer, safe_repr
from pi_core.hooks.containment import reported
from pi_hookspecs import AbortController, PiError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.conversation.left_out import LeftOutParts
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import AbortSignal, AssistantMessage, LeftOut, Model, RetryDecision

__all__ = ["Retry", "wait_unless_aborted"]


class Retry:
    """Repeats failed requests.

    Args:
        runtime: The objects that all parts share.
        set_model: Selects the fallback model of the policy.
        left_out: The parts that requests leave out because a provider refused them.

    Attributes:
        attempt: The number of the current retry, from 1; 0 if there is none.
        enabled: Whether failed requests are repeated at all.
    """

    def __init__(
        self,
        runtime: Runtime,
        set_model: Callable[[Model], Awaitable[None]],
        left_out: LeftOutParts | None = None,
    ) -> None:
        self._runtime = runtime
        self._set_model = set_model
        self._left_out = left_out
        self._without: LeftOut | None = None
        self._tried: list[str] = []
        self._decision: RetryDecision | None = None
        self._failed: AssistantMessage | None = None
        self._wait: AbortController | None = None
        self.attempt = 0
        self.enabled = True

    @property
    def is_waiting(self) -> bool:
        """Whether the delay before the next attempt is running."""
        return self._wait is not None

    def set_enabled(self, enabled: bool) -> None:  # noqa: FBT001 - the contract's shape
        """Allow or forbid retries in this session."""
        self.enabled = enabled

    def abort(self) -> None:
        """Cancel the pending retry."""
        if self._wait is not None:
            self._wait.abort("Retry cancelled")

    def decide(self, answer: AssistantMessage, attempt: int) -> RetryDecision | None:
        """Return the policy's decision on a failed answer; no retry without a policy, or if the policy fails."""
        if not self.enabled or answer.stop_reason != "error":
            return None
        runtime = self._runtime
        found = runtime.host.find("register_services", "Retrier")
        if found is None:
            return None
        with reported(runtime.report_plugin_error, found.plugin, "Retrier.decide", "to decide on a retry"):
            decided = found.thing.decide(answer, attempt, runtime.ctx)
            decision: RetryDecision | None = checked_answer(
                decided, pi_hookspecs.RetryDecision, type(None), check=partial(_decision_problem, attempt)
            )
            return decision
        return None

    def plan_retry(self, answer: AssistantMessage | None) -> bool:
        """Decide on a finished run; return whether it will be retried."""
        failed = answer is not None and answer.stop_reason in ("error", "aborted")
        self._failed = answer if failed else None
        repeatable = failed and not self._runtime.bridge.requests.refused
        self._decision = self.decide(answer, self.attempt + 1) if answer is not None and repeatable else None
        self._without = self._refused_part(answer) if answer is not None and repeatable else None
        return self._decision is not None or self._without is not None

    def _refused_part(self, answer: AssistantMessage) -> LeftOut | None:
        """Return the part of a refused request that the policy leaves out; None if there is none, or it retries."""
        left_out, runtime = self._left_out, self._runtime
        if self._decision is not None or answer.stop_reason != "error" or left_out is None or left_out.request is None:
            return None
        found = runtime.host.find("register_services", "Retrier")
        choose = getattr(found.thing, "leave_out", None) if found is not None else None
        if found is None or choose is None:
            return None
        with reported(runtime.report_plugin_error, found.plugin, "Retrier.leave_out", "to choose a part"):
            chosen = choose(answer, left_out.request, len(self._tried) + 1, runtime.ctx)
            part: LeftOut | None = checked_answer(chosen, pi_hookspecs.LeftOut, type(None))
            return part
        return None

    async def on_answer(self, answer: AssistantMessage) -> None:
        """End the retries after a successful answer."""
        if answer.stop_reason not in ("error", "aborted"):
            self._tried.clear()
        if self.attempt and answer.stop_reason not in ("error", "aborted"):
            attempt, self.attempt = self.attempt, 0
            await self._runtime.emit(pi_hookspecs.AutoRetryEndEvent(success=True, attempt=attempt))

    async def wait_for_retry(self, stop: AbortSignal) -> bool:
        """Wait for the planned retry and prepare the context for it; return False if there is none."""
        decision, self._decision = self._decision, None
        failed, self._failed = self._failed, None
        without, self._without = self._without, None
        if without is not None and failed is not None:
            await self._leave_out(without, failed)
            return True
        if decision is None or failed is None:
            if failed is not None:
                self._put_back(failed)
                await self._give_up(failed.error_message)
            return False
        self.attempt = decision.attempt
        await self._runtime.emit(
            pi_hookspecs.AutoRetryStartEvent(
                attempt=decision.attempt,
                max_attempts=decision.max_attempts,
                delay_ms=decision.delay_ms,
                # Without the advice, because the retry already does what it would suggest, such as sending the prompt
                # again.
                error_message=decision.reason or (failed.error_message or "").partition("\n")[0] or "Unknown error",
            )
        )
        if not await self._waited(decision.delay_ms, stop):
            await self._give_up("Retry cancelled")
            return False
        if decision.model is not None and not await self._change_model(decision.model):
            await self._give_up(failed.error_message)
            return False
        self._runtime.transcript.drop_failed_answer()
        return True

    async def _leave_out(self, part: LeftOut, failed: AssistantMessage) -> None:
        """Store that a part is left out, say so, and prepare the context for the same request without it."""
        assert self._left_out is not None  # noqa: S101 - which has the request that was refused
        why = (failed.error_message or "").partition("\n")[0]
        self._tried.append(self._left_out.add(part, why))
        self.attempt = len(self._tried)
        text = f"{failed.provider} refused {part.what}: continuing without it (/left-out shows it)"
        await self._runtime.emit(
            pi_hookspecs.AutoRetryStartEvent(
                attempt=self.attempt, max_attempts=self.attempt, delay_ms=0, error_message=f"{text}. {why}"
            )
        )
        self._runtime.transcript.drop_failed_answer()

    def _put_back(self, failed: AssistantMessage) -> None:
        """Send the parts again that were left out in vain; after a failure of another kind, they stay left out."""
        from pi_core.models.overflow import failure_kind

        tried, self._tried = self._tried, []
        helpful = failed.stop_reason != "error" or failure_kind(failed) in ("throttle", "overload", "transient")
        if tried and not helpful and self._left_out is not None:
            self._left_out.put_back(tried)

    async def _give_up(self, why: str | None) -> None:
        if self.attempt:
            attempt, self.attempt = self.attempt, 0
            await self._runtime.emit(pi_hookspecs.AutoRetryEndEvent(success=False, attempt=attempt, final_error=why))

    async def _waited(self, delay_ms: int, stop: AbortSignal) -> bool:
        self._wait = AbortController()
        forget = stop.on_abort(self.abort)
        try:
            return await wait_unless_aborted(delay_ms, self._wait.signal)
        finally:
            forget()
            self._wait = None

    async def _change_model(self, name: str) -> bool:
        """Switch to the fallback model; return False if that fails, since retrying the failed model would never end."""
        runtime = self._runtime
        try:
            model = runtime.ctx.find_model(name)
        except PiError as error:
            runtime.report_plugin_error("(retry)", "Retrier.decide", f"Cannot continue with model {name!r}: {error}")
            return False
        await self._set_model(model)
        return True


def _decision_problem(attempt: int, decision: RetryDecision | None) -> str | None:
    """Return what is wrong with a decision on a given attempt; one that does not count would never end."""
    if decision is None:
        return None
    for name in ("attempt", "max_attempts", "delay_ms"):
        if not isinstance(getattr(decision, name), int) or getattr(decision, name) < 0:
            return f"it returned {name}={safe_repr(getattr(decision, name))}, which is not a whole number of at least 0"
    if decision.attempt < attempt and decision.model is None:
        return f"it returned attempt={decision.attempt}, although this is attempt {attempt}"
    model: object = decision.model
    if not isinstance(model, str | None):
        return f"it returned model={safe_repr(model)}, which is not the name of a model"
    return None


async def wait_unless_aborted(delay_ms: int, signal: AbortSignal) -> bool:
    """Sleep; return False as soon as the signal is aborted."""
    if not signal.aborted:
        try:
            async with asyncio.timeout(delay_ms / 1000):
                await signal.wait()
        except TimeoutError:
            return True
    return False
