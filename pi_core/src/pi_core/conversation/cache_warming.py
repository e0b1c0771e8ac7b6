"""Keeps the prompt of the last request in its provider's cache, by sending the request again for one token of output.

The installed ``CacheWarmer`` decides whether and when; this module keeps the request, waits, and stops as soon as the
conversation makes another one, changes its context, fails, is aborted or ends. A timer of the event loop waits, so
nothing keeps the process alive.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal

from attrs import evolve

from pi_core.agent.safe_text import checked_answer
from pi_core.conversation.request_hooks import observing
from pi_core.hooks.acting import acting
from pi_core.hooks.containment import reported
from pi_hookspecs import (
    AbortController,
    AgentSettledEvent,
    CachedPrompt,
    CacheWarmingDecisionEvent,
    CacheWarmingPlan,
    CacheWarmingState,
)
from pi_hookspecs.deferred import define
from pi_hookspecs.specs import request as request_specs
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from pi_core.conversation.runtime import Runtime
    from pi_core.conversation.side_requests import SideRequests
    from pi_core.host.registry import Registered
    from pi_hookspecs import AssistantMessage, Context, Model, StreamOptions, Usage

__all__ = ["CacheWarming", "Clock", "SentRequest"]

_STEP = "CacheWarmer.plan_cache_warming"
_BUDGETS = frozenset({"budget_tokens", "thinkingBudget"})
_LIMITS = {
    "max_tokens": 1,
    "max_completion_tokens": 1,
    "max_output_tokens": 16,
    "maxOutputTokens": 1,
    "maxTokens": 1,
}
"""Names that APIs give to the limit of an answer, wherever in a payload it is, and the lowest that they accept."""


class Clock:
    """The time and the timers of the event loop; tests pass another."""

    def now(self) -> float:
        """Return seconds, which also pass while the computer sleeps: the provider's cache does not wait for it."""
        return time.time()

    def call_later(self, seconds: float, function: Callable[[], object]) -> Callable[[], None]:
        """Call a function later; return a function that prevents it."""
        return asyncio.get_running_loop().call_later(seconds, function).cancel


@define(eq=False, repr=False)
class SentRequest(ReprMixin):
    """A request of the conversation.

    Attributes:
        model: The model that was asked.
        context: System prompt, messages and tools.
        options: Its options, with key and headers.
        lifetime: For how many seconds the provider keeps the prompt.
        retention: The cache that was asked for, or the one that the provider used instead.
        messages: The number of messages of the conversation that it contains, and the last of them.
        selected: Reference and reasoning effort of the session's model.
        payload: What was sent; None until then.
        usage: Usage of its answer, or of the last refresh; None until there is one.
        used_at: When the cache was used last, by the clock.
        phase_at: When the phase began, by the clock.
        is_idle: Whether the session waits for the next prompt.
        refreshes: How often it was sent again.
    """

    model: Model
    context: Context
    options: StreamOptions
    lifetime: int
    retention: Literal["short", "long"]
    messages: tuple[int, Any]
    selected: tuple[str, str]
    used_at: float
    phase_at: float
    payload: Any = None
    usage: Usage | None = None
    is_idle: bool = False
    refreshes: int = 0


class CacheWarming:
    """Sends the last request of the conversation again when the installed policy says so.

    Args:
        runtime: The objects that all parts share.
        requests: Sends requests outside the conversation, and accounts for their usage.
        clock: The time.
    """

    def __init__(self, runtime: Runtime, requests: SideRequests, clock: Clock | None = None) -> None:
        self._runtime = runtime
        self._requests = requests
        self.clock = clock or Clock()
        self._sent: SentRequest | None = None
        self._plan: CacheWarmingPlan | None = None
        self._due_at: float | None = None
        self._cancel_timer: Callable[[], None] = _nothing
        self._abort: AbortController | None = None
        self._refreshing: SentRequest | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        """The refresh in progress, and earlier ones that are being aborted."""

    # The conversation's requests

    def remember(self, model: Model, context: Context, options: StreamOptions) -> StreamOptions:
        """Keep a request that is about to be sent, and return options that also keep its payload."""
        self.forget()
        retention = options.cache_retention or "short"
        lifetime = (model.prompt_cache or {}).get(retention)
        if lifetime is None or retention == "none":
            return options
        state, now = self._runtime.agent.state, self.clock.now()
        sent = self._sent = SentRequest(
            model=model,
            context=context,
            options=options,
            lifetime=lifetime,
            retention=retention,
            messages=(len(state.messages), state.messages[-1] if state.messages else None),
            selected=self._selected(),
            used_at=now,
            phase_at=now,
        )
        change = options.on_payload

        async def keep(payload: Any, model: Model) -> Any:
            if change is not None:
                changed = await change(payload, model)
                payload = payload if changed is None else changed
            sent.payload = payload
            return payload

        return evolve(options, on_payload=observing(keep, change))

    def on_answer(self, answer: AssistantMessage) -> None:
        """Plan for the time after an answer of the conversation; a failed one ends the current plan."""
        sent = self._sent
        if sent is None:
            return
        is_its_own = (answer.provider, answer.model) == (sent.model.provider, sent.model.id)
        if answer.stop_reason in ("error", "aborted") or sent.payload is None or not is_its_own:
            self.forget()
            return
        sent.usage = answer.usage
        if sent.retention == "long" and answer.usage.cache_write and not answer.usage.cache_write_1h:
            lifetime = (sent.model.prompt_cache or {}).get("short")  # the host does not have the long one
            if lifetime is None:
                self.forget()
                return
            sent.lifetime, sent.retention = lifetime, "short"
        self._arm()

    def on_settled(self, event: AgentSettledEvent) -> None:
        """Plan for the time until the next prompt."""
        sent = self._sent
        if sent is None or sent.usage is None or event.aborted:
            self.forget()
            return
        sent.is_idle, sent.phase_at = True, self.clock.now()
        if self._refreshing is not sent:  # a refresh in progress plans when it is done
            self._arm()

    def forget(self) -> None:
        """Stop: nothing is sent any more for the last request, and a refresh in progress is aborted."""
        self._cancel_timer()
        self._cancel_timer = _nothing
        self._sent = self._plan = self._due_at = None
        if self._abort is not None:
            self._abort.abort("The prompt no longer has to be kept in the cache")
            self._abort = None

    async def stop(self) -> None:
        """Stop, and return when a refresh in progress has ended, so that its usage is stored in this conversation."""
        self.forget()
        await asyncio.gather(*self.tasks - {asyncio.current_task()}, return_exceptions=True)

    def state(self) -> CacheWarmingState | None:
        """Return the next decision; None if there is none to make."""
        sent, plan = self._sent, self._plan
        if plan is None or (sent is not None and not self._is_current(sent)):
            return None
        seconds = None if self._due_at is None else max(self._due_at - self.clock.now(), 0.0)
        if sent is not None and self._refreshing is sent:
            seconds = 0.0
        return CacheWarmingState(plan=plan, seconds=seconds, refreshes=sent.refreshes if sent is not None else 0)

    # Planning

    def _arm(self) -> None:
        """Ask the policy, and set the timer."""
        self._cancel_timer()
        self._cancel_timer, self._due_at = _nothing, None
        sent, warmer = self._sent, self._warmer()
        if sent is None or warmer is None:
            return
        if not _has_number(sent.payload, _LIMITS):
            self._plan = CacheWarmingPlan(warm=False, reason="its requests set no output limit that could be lowered")
            return
        plan = self._plan = self._ask(warmer, sent)
        if plan is None or plan.after_seconds is None:
            return
        if not plan.warm and not self._runtime.hooks.listens("cache_warming_decision"):
            return
        self._due_at = sent.used_at + max(plan.after_seconds, 0)
        self._cancel_timer = self.clock.call_later(max(self._due_at - self.clock.now(), 0), self._on_due)

    def _warmer(self) -> Registered | None:
        return self._runtime.host.find("register_services", "CacheWarmer")

    def _ask(self, warmer: Registered, sent: SentRequest) -> CacheWarmingPlan | None:
        runtime = self._runtime
        with (
            reported(
                runtime.report_plugin_error,
                warmer.plugin,
                _STEP,
                "to decide whether to keep a prompt in the provider's cache",
            ),
            acting(warmer.plugin),
        ):
            answer = warmer.thing.plan_cache_warming(self._prompt(sent), runtime.ctx)
            plan: CacheWarmingPlan | None = checked_answer(answer, CacheWarmingPlan, type(None))
            return plan
        return None

    def _prompt(self, sent: SentRequest) -> CachedPrompt:
        assert sent.usage is not None  # noqa: S101 - it was answered
        return CachedPrompt(
            model=sent.model,
            thinking_level=sent.options.reasoning or "off",
            has_thinking_budget=_has_number(sent.payload, _BUDGETS),
            usage=sent.usage,
            retention=sent.retention,
            lifetime=sent.lifetime,
            phase="idle" if sent.is_idle else "run",
            phase_seconds=self.clock.now() - sent.phase_at,
            refreshes=sent.refreshes,
        )

    def _selected(self) -> tuple[str, str]:
        state = self._runtime.agent.state
        return state.model.reference if state.model is not None else "", state.thinking_level

    def _is_current(self, sent: SentRequest) -> bool:
        """Return whether the next request would begin with this one, as far as is known."""
        count, last = sent.messages
        messages = self._runtime.agent.state.messages
        is_same = len(messages) >= count and (count == 0 or messages[count - 1] is last)
        return is_same and sent.selected == self._selected()

    # Refreshing

    def _on_due(self) -> None:
        self._cancel_timer, self._due_at = _nothing, None
        if self._sent is not None:
            self._refreshing = self._sent
            task = asyncio.get_running_loop().create_task(self._refresh(self._sent))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _refresh(self, sent: SentRequest) -> None:
        report = self._runtime.report_plugin_error
        try:
            with reported(report, "(cache)", "refresh", "to keep a prompt in the provider's cache"):
                await self._send_if_worth(sent)
        finally:
            if self._refreshing is sent:
                self._refreshing = None

    async def _send_if_worth(self, sent: SentRequest) -> None:
        warmer = self._warmer()
        if warmer is None or not self._is_current(sent):
            self.forget()
            return
        if self.clock.now() - sent.used_at >= sent.lifetime:  # the process or the computer was suspended
            self._end("the cache entry expired before the request could be sent again")
            return
        plan = self._ask(warmer, sent)
        if plan is None:
            return
        plan = await self._decided(plan, sent)
        if self._sent is not sent:  # another request was made meanwhile
            return
        self._plan = plan
        if not plan.warm:
            return
        abort = self._abort = AbortController()
        now = self.clock.now()
        answer = await self._requests.repeat(sent, one_token(sent.payload), abort.signal, warmer.plugin)
        if self._sent is sent:
            self._on_refreshed(sent, answer, now)

    async def _decided(self, plan: CacheWarmingPlan, sent: SentRequest) -> CacheWarmingPlan:
        """Return the plan with the decision of the hook."""
        runtime = self._runtime
        if not runtime.hooks.listens("cache_warming_decision"):
            return plan
        event = CacheWarmingDecisionEvent(prompt=self._prompt(sent), plan=plan)
        answer = await runtime.hooks.call(request_specs.cache_warming_decision, event, runtime.ctx)
        if answer is None or answer.warm == plan.warm:
            return plan
        return evolve(
            plan, warm=answer.warm, reason="" if answer.warm else answer.reason or "a plugin decided against it"
        )

    def _on_refreshed(self, sent: SentRequest, answer: AssistantMessage, began_at: float) -> None:
        why = ""
        if answer.stop_reason in ("error", "aborted"):
            why = f"sending the request again failed: {(answer.error_message or '').partition(chr(10))[0]}"
        elif not answer.usage.cache_read:
            why = "the prompt was no longer in the provider's cache"
        if why:
            self._end(why)
            return
        sent.usage, sent.used_at = answer.usage, began_at
        sent.refreshes += 1
        self._arm()

    def _end(self, why: str) -> None:
        """Send nothing any more for the last request, and keep the reason for the user."""
        assert self._plan is not None  # noqa: S101 - it set the timer
        self._plan, self._sent = evolve(self._plan, warm=False, reason=why), None


def one_token(payload: Any) -> Any:
    """Return a payload whose answer has one token, or as few as the API accepts, and that is otherwise the same."""
    if not isinstance(payload, dict):
        return payload
    return {
        key: _LIMITS[key] if key in _LIMITS and isinstance(value, int) else one_token(value)
        for key, value in payload.items()
    }


def _has_number(payload: Any, names: Collection[str]) -> bool:
    """Return whether an object, or one inside it, has a positive number under one of these names."""
    if not isinstance(payload, dict):
        return False
    return any(
        (name in names and isinstance(value, int) and value > 0) or _has_number(value, names)
        for name, value in payload.items()
    )


def _nothing() -> None:
    """Cancel no timer, because none is set."""
