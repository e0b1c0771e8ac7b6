"""Hooks of a model request: its messages, its payload, the head of the response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs._markers import Deadline, OnFailure, Rule, answers, hookspec

if TYPE_CHECKING:
    from pi_hookspecs.context import PiContext
    from pi_hookspecs.events.cache_warming import CacheWarmingDecisionEvent, CacheWarmingDecisionResult
    from pi_hookspecs.events.request import (
        AfterProviderResponseEvent,
        BeforeModelRequestEvent,
        BeforeModelRequestResult,
        BeforeProviderRequestEvent,
        ContextEvent,
        ContextResult,
        ModelUsageEvent,
        ProviderStreamEvent,
    )


@hookspec
@answers(messages=Rule.PIPE, block=Rule.VETO)
async def context(event: ContextEvent, ctx: PiContext) -> ContextResult | None:
    """Change the messages of this request, or refuse to make it; the transcript is not changed.

    With ``@hookimpl(observe=True)`` it is called after all others and changes nothing: ``event.changes`` has what each
    plugin changed.

    Args:
        event: The messages, including ones added by plugins, before they are converted for the model.
        ctx: The session.

    When: before every request.
    Answers: veto for ``block``, the first wins and no request is made. ``messages`` are piped.
    On error: reported; the messages are not changed.
    Since: 1.0
    """


@hookspec
@answers(block=Rule.VETO, on_failure=OnFailure.REFUSE, deadline=Deadline.LONG)
async def before_model_request(event: BeforeModelRequestEvent, ctx: PiContext) -> BeforeModelRequestResult | None:
    """Refuse a request to a model before it costs anything, whether of the conversation or of a plugin.

    A plugin that makes requests in this hook is called for them, too: check ``event.plugin``. A guard that
    reserves what a request may cost, and settles it in ``model_usage``, is best marked ``trylast=True``: a request that
    another plugin refuses later uses nothing and has no ``model_usage``.

    Args:
        event: Which request it is, the model, and how large the request is.
        ctx: The session.

    When: before every request, including those of ``ctx.complete``, compactions and branch summaries, and before
        each retry; after ``context``, before the key is looked up.
    Answers: veto; the first refusal wins, and no request is made.
    On error: the request is refused: a guard that crashes lets nothing pass.
    Since: 1.1
    """


@hookspec
@answers(Rule.PIPE, into="payload")
async def before_provider_request(event: BeforeProviderRequestEvent, ctx: PiContext) -> Any:
    """Change the request in the API's own format, returning the whole payload, or add HTTP headers to it.

    With ``@hookimpl(observe=True)`` it is called after all others and changes nothing: ``event.changes`` has what each
    plugin changed.

    Args:
        event: The payload, the model, and which request it is.
        ctx: The session.

    When: after the codec has built the payload, before it is sent.
    Answers: pipe; each plugin gets the payload that the previous one returned. ``None`` leaves it unchanged.
    On error: reported; the payload is not changed.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def after_provider_response(event: AfterProviderResponseEvent, ctx: PiContext) -> None:
    """Read the status and headers of a response, for example its rate limits.

    Args:
        event: Status and headers, and which request they answer.
        ctx: The session.

    When: when the head of the response has arrived, before its body.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.0
    """


@hookspec
@answers(Rule.NOTIFY)
async def provider_stream_event(event: ProviderStreamEvent, ctx: PiContext) -> None:
    """Read the events of a host's stream as they arrive, to debug or record them.

    Args:
        event: The event in the format of the API, and which request it belongs to.
        ctx: The session.

    When: for each event of the answer's stream that is an object, before it is read; the stream waits for it.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.2
    """


@hookspec
@answers(Rule.NOTIFY)
async def model_usage(event: ModelUsageEvent, ctx: PiContext) -> None:
    """Count the usage of a request, regardless of who made it and how it ended.

    Args:
        event: Which request it was, its tokens and cost, how long it took, and why it failed.
        ctx: The session.

    When: after each request that no plugin refused: answered, failed, or aborted, including retries; before
        ``message_end``.
    Answers: notify; the return value is ignored.
    On error: reported.
    Since: 1.1
    """


@hookspec
@answers(Rule.FIRST)
async def cache_warming_decision(event: CacheWarmingDecisionEvent, ctx: PiContext) -> CacheWarmingDecisionResult | None:
    """Decide whether the last request is sent again, so that its provider keeps the prompt in its cache.

    Args:
        event: What the cache has, and what the policy has decided, with costs and reason.
        ctx: The session.

    When: shortly before the cache drops the prompt, if the model's cache lifetime is known and caches
        are kept warm; also if the policy has decided against it.
    Answers: first; it replaces the policy's decision. ``None`` leaves it.
    On error: reported; the policy's decision is kept.
    Since: 1.1
    """
