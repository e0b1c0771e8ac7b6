"""The spans of one session: the open ones, their parents, and their attributes.

Every method takes the time at which something happened, in nanoseconds since 1970, because it may be called later.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import define, field
from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from pi_hookspecs import Usage
from pi_otel import names
from pi_otel.propagation import context_of, context_of_environment, headers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from pi_hookspecs import AssistantMessage, BeforeModelRequestEvent, HookTrace, Model, ModelUsageEvent
    from pi_otel.export import Outlet

__all__ = ["Prompt", "Recorder"]

_NANO = 1_000_000_000
_CLIENT_ERROR = 400


@define(eq=False)
class Prompt:
    """What is known about a prompt when it begins.

    Attributes:
        session: The session's id.
        model: The model that will be asked; None without one.
        caller: What came with the prompt, by header: ``traceparent``, ``tracestate``.
        ambient: The program's own context where the prompt was given; None outside any span.
        environ: The variables that may have the context of the process that started pi.
    """

    session: str
    model: Model | None
    caller: Mapping[str, str]
    ambient: Context | None
    environ: Mapping[str, str]


@define(eq=False)
class _Run:
    """The open span of a prompt and its sums."""

    span: Span
    context: Context
    started: int
    common: dict[str, Any]
    usage: Usage = field(factory=Usage)
    turns: int = 0
    stop_reason: str | None = None
    error: str | None = None


@define(eq=False)
class _Request:
    """The open span of a request."""

    span: Span
    started: int
    common: dict[str, Any]
    first_chunk: float | None = None
    status: int | None = None
    usage: ModelUsageEvent | None = None
    ended: int = 0


class Recorder:
    """Records one session.

    Args:
        outlet: Makes the spans.
        parents: By the id of a child session, the context of the span that it works for; shared by all sessions.
        hook_threshold: Milliseconds from which the call of a hook gets a span.
    """

    def __init__(self, outlet: Outlet, parents: dict[str, Any], hook_threshold: float) -> None:
        self._outlet = outlet
        self._parents = parents
        self._threshold = hook_threshold
        self._arrived: int | None = None
        self._run: _Run | None = None
        self._requests: dict[str, _Request] = {}
        self._tools: dict[str, tuple[Span, int, str]] = {}
        self._compaction: tuple[Span, Context] | None = None
        self._contexts: dict[str, Context] = {}
        """By the id of a request or a tool call: that of its span, also when it has ended, until the prompt has."""

    # Prompts

    def text_arrived(self, at: int) -> None:
        """Keep when the user's text arrived: it may become a prompt."""
        if self._run is None:
            self._arrived = at

    def prompt_began(self, at: int, prompt: Prompt) -> None:
        """Open the span of a prompt, unless it is open."""
        if self._run is not None:
            return
        started, self._arrived = self._arrived or at, None
        common: dict[str, Any] = {names.OPERATION: "invoke_agent", names.AGENT_NAME: names.AGENT}
        if prompt.model is not None:
            common[names.PROVIDER] = names.provider_name(prompt.model.provider)
            common[names.REQUEST_MODEL] = prompt.model.id
        span = self._outlet.tracer.start_span(
            f"invoke_agent {names.AGENT}",
            self._outer(prompt),
            attributes={**common, names.CONVERSATION: prompt.session, names.AGENT_VERSION: self._outlet.version},
            start_time=started,
        )
        self._run = _Run(span, trace.set_span_in_context(span), started, common)

    def _outer(self, prompt: Prompt) -> Context:
        return (
            self._parents.get(prompt.session)
            or context_of(prompt.caller)
            or prompt.ambient
            or context_of_environment(prompt.environ)
        )

    def turn_ended(self, _at: int) -> None:
        """Count a turn."""
        if self._run is not None:
            self._run.turns += 1

    def prompt_settled(self, at: int, *, aborted: bool) -> None:
        """End the span of the prompt, and those below it that were left open."""
        for request_id in tuple(self._requests):
            self._end_request(at, request_id, error=None if aborted else names.OTHER_ERROR)
        for call_id in tuple(self._tools):
            self.tool_ended(at, call_id, error=None, result=None)
        run, self._run = self._run, None
        self._contexts.clear()
        if run is None:
            return
        span = run.span
        span.set_attributes({**_tokens(run.usage), names.TURNS: run.turns})
        if run.stop_reason is not None:
            span.set_attribute(names.STOP_REASON, run.stop_reason)
        if aborted:
            span.set_attributes({names.ABORTED: True})
        elif run.error is not None:
            _fail(span, run.error)
            run.common[names.ERROR] = run.error
        span.end(at)
        self._outlet.metrics.prompt(run.common, (at - run.started) / _NANO)

    # Requests

    def request_began(self, at: int, event: BeforeModelRequestEvent, content: dict[str, str]) -> None:
        """Open the span of a request."""
        model = event.model
        address = urlsplit(model.base_url)
        common: dict[str, Any] = {
            names.OPERATION: "chat",
            names.PROVIDER: names.provider_name(model.provider),
            names.REQUEST_MODEL: model.id,
        }
        if address.hostname:
            common[names.SERVER_ADDRESS] = address.hostname
            common[names.SERVER_PORT] = _port(address)
        own: dict[str, Any] = {names.PURPOSE: event.purpose, **content}
        if event.attempt > 1:
            own[names.RETRY] = event.attempt - 1
        inside = self._compaction[1] if event.purpose == "compaction" and self._compaction else self._here()
        span = self._outlet.tracer.start_span(
            f"chat {model.id}", inside, SpanKind.CLIENT, {**common, **own}, start_time=at
        )
        self._requests[event.request_id] = _Request(span, at, common)
        self._contexts[event.request_id] = trace.set_span_in_context(span)

    def request_sent(self, request_id: str, asked: dict[str, Any]) -> None:
        """Add what the request asks for."""
        if request := self._requests.get(request_id):
            request.span.set_attributes(asked)

    def answer_began(self, at: int, request_id: str) -> None:
        """Note when the answer began to arrive."""
        request = self._requests.get(request_id)
        if request is not None and request.first_chunk is None:
            request.first_chunk = (at - request.started) / _NANO
            request.span.set_attribute(names.RESPONSE_FIRST_CHUNK, request.first_chunk)

    def status_arrived(self, request_id: str, status: int) -> None:
        """Note the HTTP status."""
        if request := self._requests.get(request_id):
            request.status = status
            request.span.set_attribute(names.HTTP_STATUS, status)

    def request_ended(self, at: int, event: ModelUsageEvent, content: dict[str, str]) -> None:
        """Note usage and end of a request; the span of one of the conversation waits for its message."""
        request = self._requests.get(event.request_id)
        if self._run is not None:
            self._run.usage += event.usage
        if request is None:
            return
        request.usage, request.ended = event, at
        request.span.set_attributes(content)
        if event.purpose != "conversation":
            if event.answer is not None:
                _describe(request.span, event.answer)
            self._end_request(at, event.request_id, error=self._error(request, failed=event.error is not None))

    def answered(self, at: int, request_id: str, message: AssistantMessage) -> None:
        """End the span of a request of the conversation with its answer, or with its failure."""
        failed = message.stop_reason == "error"
        request = self._requests.get(request_id)
        error = None if request is None else self._error(request, failed=failed)
        if self._run is not None:
            self._run.stop_reason = message.stop_reason
            self._run.error = (error or names.OTHER_ERROR) if failed else None
        if request is None:
            return
        _describe(request.span, message)
        self._end_request(request.ended or at, request_id, error=error)

    def _error(self, request: _Request, *, failed: bool) -> str | None:
        if not failed:
            return None
        return str(request.status) if request.status and request.status >= _CLIENT_ERROR else names.OTHER_ERROR

    def _end_request(self, at: int, request_id: str, *, error: str | None) -> None:
        request = self._requests.pop(request_id)
        usage = Usage() if request.usage is None else request.usage.usage
        request.span.set_attributes(_tokens(usage))
        if error is not None:
            _fail(request.span, error)
            request.common[names.ERROR] = error
        request.span.end(at)
        self._outlet.metrics.request(request.common, (at - request.started) / _NANO, request.first_chunk, usage)

    # Tools

    def tool_began(self, at: int, call_id: str, name: str, content: dict[str, str]) -> None:
        """Open the span of a tool call; the model may have made up its name."""
        name = name.encode(errors="replace").decode()
        attributes: dict[str, Any] = {
            names.OPERATION: "execute_tool",
            names.TOOL_NAME: name,
            names.TOOL_TYPE: "function",
            names.TOOL_CALL: call_id,
            **content,
        }
        if name.startswith("mcp__"):
            attributes[names.MCP_METHOD] = "tools/call"
        outer = self._contexts.get(call_id.rpartition("/")[0])  # of a call that a tool makes inside its own
        span = self._outlet.tracer.start_span(
            f"execute_tool {name}", outer or self._here(), attributes=attributes, start_time=at
        )
        self._tools[call_id] = span, at, name
        self._contexts[call_id] = trace.set_span_in_context(span)

    def tool_ended(
        self, at: int, call_id: str, error: str | None, result: str | None, more: Mapping[str, str] | None = None
    ) -> None:
        """End the span of a tool call; ``more`` attributes are those of a call to an MCP server."""
        found = self._tools.pop(call_id, None)
        if found is None:
            return
        span, started, name = found
        common = {names.OPERATION: "execute_tool", names.TOOL_NAME: name}
        span.set_attributes(more or {})
        if result is not None:
            span.set_attribute(names.TOOL_RESULT, result)
        if error is not None:
            _fail(span, error)
            common[names.ERROR] = error
        span.end(at)
        self._outlet.metrics.tool(common, (at - started) / _NANO)

    # Compaction, child sessions, hooks

    def compaction_began(self, at: int, reason: str, tokens: int) -> None:
        """Open the span of a compaction; one that is open was cancelled by a plugin."""
        self.compaction_ended(at, error="cancelled", reason=None)
        span = self._outlet.tracer.start_span(
            "compact", self._here(), attributes={names.REASON: reason, names.TOKENS_BEFORE: tokens}, start_time=at
        )
        self._compaction = span, trace.set_span_in_context(span)

    def compaction_ended(self, at: int, *, error: str | None, reason: str | None, after: int | None = None) -> None:
        """End the span of a compaction; with the ``reason`` of one that was made, count it."""
        if reason is not None:
            self._outlet.metrics.compaction(reason)
        if self._compaction is None:
            return
        span, _ = self._compaction
        self._compaction = None
        if after is not None:
            span.set_attribute(names.TOKENS_AFTER, after)
        if error == "aborted":
            span.set_attributes({names.ABORTED: True})
        elif error is not None:
            _fail(span, error)
        span.end(at)

    def child_began(self, session: str, call_id: str | None) -> None:
        """Put the prompts of a child session below the tool call that it works for, or below this prompt."""
        context = self._contexts.get(call_id or "") or self._here()
        if context is not None:
            self._parents[session] = context

    def child_ended(self, session: str) -> None:
        """Forget a child session."""
        self._parents.pop(session, None)

    def hook_called(self, call: HookTrace) -> None:
        """Record the call of a plugin's hook; one that took long, failed or refused has a span under what waited."""
        self._outlet.metrics.hook(call)
        if call.outcome == "ok" and call.milliseconds < self._threshold:
            return
        attributes: dict[str, Any] = {names.PLUGIN: call.plugin, names.HOOK_OUTCOME: call.outcome}
        name, parent = f"hook {call.hook}", self._waiting(call.key)
        if call.hook == "activate":  # before any prompt: below what started pi, else by itself
            name, parent = "plugin activate", context_of_environment(os.environ)
        else:
            attributes |= {names.HOOK: call.hook, names.HOOK_CHANGED: call.changed}
        if parent is None:
            return
        started = int(call.started * _NANO)
        span = self._outlet.tracer.start_span(name, parent, attributes=attributes, start_time=started)
        if call.outcome not in ("ok", "vetoed", "cancelled"):
            _fail(span, call.outcome)
        span.end(started + int(call.milliseconds * 1_000_000))

    def _waiting(self, key: str | None) -> Context | None:
        """Return the context of what a hook delays: a request or a call, a compaction, the prompt."""
        found = self._contexts.get(key or "")
        if found is None and self._compaction is not None:
            found = self._compaction[1]
        return found or self._here()

    # Context

    def headers(self, key: str | None = None) -> dict[str, str]:
        """Return ``traceparent`` and ``tracestate`` of a request or call, else of what runs now; may be empty."""
        context = self._contexts.get(key or "")
        if context is None and len(self._tools) == 1:
            context = self._contexts[next(iter(self._tools))]
        context = context or self._here()
        return headers_of(context) if context is not None else {}

    def _here(self) -> Context | None:
        return None if self._run is None else self._run.context


def _describe(span: Span, answer: AssistantMessage) -> None:
    reason = answer.stop_reason
    attributes: dict[str, Any] = {
        names.RESPONSE_FINISH_REASONS: [names.FINISH_REASONS.get(reason, reason)],
        names.RESPONSE_MODEL: answer.response_model or answer.model,
    }
    if answer.response_id:
        attributes[names.RESPONSE_ID] = answer.response_id
    if reason == "aborted":
        attributes[names.ABORTED] = True
    span.set_attributes(attributes)


def _fail(span: Span, error: str) -> None:
    span.set_attribute(names.ERROR, error)
    span.set_status(Status(StatusCode.ERROR))


def _tokens(usage: Usage) -> dict[str, int]:
    """Return the attributes of a usage; input counts the tokens that were read from the cache or written to it."""
    counted = {
        names.INPUT_TOKENS: usage.input + usage.cache_read + usage.cache_write,
        names.OUTPUT_TOKENS: usage.output,
    }
    more = {
        names.CACHE_READ_TOKENS: usage.cache_read,
        names.CACHE_WRITE_TOKENS: usage.cache_write,
        names.REASONING_TOKENS: usage.reasoning or 0,
    }
    return {**counted, **{name: number for name, number in more.items() if number}}


def _port(address: Any) -> int:
    try:
        return int(address.port or (80 if address.scheme == "http" else 443))
    except ValueError:  # no number: the request will fail with a better message
        return 443
