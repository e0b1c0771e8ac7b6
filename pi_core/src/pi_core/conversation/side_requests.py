"""Requests outside the conversation (``ctx.complete``), retried and accounted for like the conversation's own."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from attrs import evolve

from pi_core.agent.request import ask_model
from pi_core.agent.types import AgentContext, LoopConfig
from pi_core.conversation.build_agent import prepare_request, stream_answer
from pi_core.conversation.request_hooks import RequestHooks
from pi_core.conversation.retry import wait_unless_aborted
from pi_core.hooks.acting import acting, acting_plugin
from pi_hookspecs import AbortController, AssistantMessage, StreamOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core.conversation.cache_warming import SentRequest
    from pi_core.conversation.retry import Retry
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import AbortSignal, Context, Message, Model, SideRequest

__all__ = ["SideRequests"]

_CACHE_WARMING = "cache_warming"
"""Purpose of requests that keep a prompt in its provider's cache."""

_SUMMARIES: dict[str, Literal["compaction", "branchSummary"]] = {
    "compaction": "compaction",
    "branch_summary": "branchSummary",
}
"""Purposes whose retries emit events, and the name of each in JSON."""


class SideRequests:
    """Makes requests to the model outside the conversation.

    Args:
        runtime: Provides the model, its key, the settings and the hooks.
        retry: Decides whether to repeat a failed request.
        spent: The totals of requests, tokens and dollars by plugin, to which this adds.
    """

    def __init__(self, runtime: Runtime, retry: Retry, spent: dict[str | None, list[float]]) -> None:
        self._runtime = runtime
        self._retry = retry
        self._spent = spent
        self._summaries: list[tuple[AssistantMessage, SideRequest]] = []

    async def complete(self, context: Context, request: SideRequest) -> AssistantMessage:
        """Ask the model outside the conversation; see ``AgentSession.complete``."""
        runtime = self._runtime
        model = request.model or runtime.required_model()
        runtime.models.check(model)
        stop = AbortController()
        with ExitStack() as forgetting:
            for each in (request.signal, runtime.signal):
                if each is not None:
                    forgetting.callback(each.on_abort(stop.abort))
            return await self._with_retries(model, context, request, stop.signal)

    async def _with_retries(
        self, model: Model, context: Context, request: SideRequest, signal: AbortSignal
    ) -> AssistantMessage:
        attempt = 0
        hooks = RequestHooks(self._runtime.hooks, self._runtime.plugins, request.purpose, acting_plugin())
        hooks.retries = lambda: attempt
        while True:
            answer = await self._ask(model, context, request, signal, hooks)
            self._count(answer)
            if self._runtime.gate.call is not None:
                self._runtime.gate.call.add(answer)
            decision = None if hooks.refused else self._retry.decide(answer, attempt + 1)
            if decision is None or decision.model is not None:  # only the conversation may switch models
                break
            if not await self._next_try(decision.delay_ms, request, signal):
                break
            self._append_usage(answer, request.purpose)
            attempt = decision.attempt
        if attempt:
            await self._emit("Finished", request)
        if request.purpose in _SUMMARIES and answer.stop_reason not in ("error", "aborted"):
            self._summaries.append((answer, request))
        else:
            self._append_usage(answer, request.purpose)
        return answer

    def _count(self, answer: AssistantMessage) -> None:
        sums = self._spent.setdefault(acting_plugin(), [0, 0, 0.0])
        sums[0] += 1
        sums[1] += answer.usage.total_tokens
        sums[2] += answer.usage.cost.total

    def account_for_summaries(self, *, carried: bool) -> None:
        """Record the tokens of summaries that no entry contains, for example because a plugin refused the summary."""
        made, self._summaries = self._summaries, []
        for answer, request in made:
            if not carried:
                self._append_usage(answer, request.purpose)

    async def _next_try(self, delay_ms: int, request: SideRequest, signal: AbortSignal) -> bool:
        await self._emit("Scheduled", request)
        if not await wait_unless_aborted(delay_ms, signal):
            return False
        await self._emit("AttemptStart", request)
        return True

    async def _emit(self, step: str, request: SideRequest) -> None:
        source = _SUMMARIES.get(request.purpose)
        if source is not None:
            import pi_hookspecs

            event = getattr(pi_hookspecs, f"SummarizationRetry{step}Event")
            await self._runtime.emit(event(source=source, reason=request.reason))

    async def _ask(
        self, model: Model, context: Context, request: SideRequest, signal: AbortSignal, hooks: RequestHooks
    ) -> AssistantMessage:
        runtime = self._runtime
        level = request.reasoning or runtime.agent.state.thinking_level
        options = StreamOptions(
            max_tokens=request.max_tokens,
            reasoning=None if level == "off" else level,
            cache_retention="none",
            image_options=request.image_options,
        )
        route = None
        if model.is_virtual:
            from pi_core.conversation.routing import Routing

            route = Routing(runtime.settings, runtime.models, runtime.manager, runtime.plugins, int).route_directly
        config = LoopConfig(
            model=model,
            stream=partial(stream_answer, runtime.models),
            options=options,
            convert_to_llm=lambda messages: cast("Sequence[Message]", messages),
            route_request=route,
            begin_request=hooks.begin,
            end_request=hooks.end,
            prepare_request=partial(prepare_request, runtime.models, runtime.gate, hooks),
        )
        content = AgentContext(context.system_prompt, list(context.messages), context.tools)
        answer, _ = await ask_model(content, config, signal, _ignore)
        return answer

    async def repeat(self, sent: SentRequest, payload: Any, signal: AbortSignal, plugin: str) -> AssistantMessage:
        """Send a request of the conversation again, with another payload, and record its usage.

        It is made once, whatever comes of it, and does not count as a request of the prompt that is being answered.

        Args:
            sent: The request; key and headers are looked up again, in case they have changed.
            payload: What to send. Plugins see the payload that the provider makes, and add their headers.
            signal: Aborts the request.
            plugin: The plugin that decided to make it.
        """
        runtime = self._runtime
        hooks = RequestHooks(runtime.hooks, runtime.plugins, _CACHE_WARMING, plugin)

        async def prepare(model: Model, options: StreamOptions) -> tuple[Model, StreamOptions]:
            model, options = await runtime.models.prepare(model, options)
            options = hooks.bind(model, options)
            return model, evolve(options, on_payload=hooks.sending(payload, options.on_payload))

        config = LoopConfig(
            model=sent.model,
            stream=partial(stream_answer, runtime.models),
            options=evolve(
                sent.options,
                max_tokens=1,
                continues=False,
                api_key=None,
                headers=None,
                on_payload=None,
                on_response=None,
                on_stream_event=None,
            ),
            convert_to_llm=lambda messages: cast("Sequence[Message]", messages),
            begin_request=hooks.begin,
            end_request=hooks.end,
            prepare_request=prepare,
        )
        context = sent.context
        content = AgentContext(context.system_prompt, list(context.messages), context.tools)
        with acting(plugin):
            answer, _ = await ask_model(content, config, signal, _ignore)
            self._count(answer)
        if runtime.gate.call is not None:
            runtime.gate.call.add(answer)
        self._append_usage(answer, _CACHE_WARMING)
        return answer

    def _append_usage(self, answer: AssistantMessage, purpose: str) -> None:
        if answer.usage.total_tokens or answer.usage.cost.total:
            self._runtime.manager.append_usage(
                purpose, answer.provider, answer.model, answer.usage, answer.error_message
            )


async def _ignore(_event: object) -> None:
    """Ignore an event of the partial answer."""
