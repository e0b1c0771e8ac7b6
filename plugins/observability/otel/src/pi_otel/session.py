"""Observes a session: handlers that note what happened and when, and the recorder that creates spans from it."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from time import time_ns
from typing import TYPE_CHECKING, Any, Self

from pi_otel import names
from pi_otel.options import Options, read_options
from pi_otel.telemetry import telemetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import HookTrace, PiAPI, PiContext
    from pi_otel.export import Outlet
    from pi_otel.recorder import Recorder

__all__ = ["Observed"]

_ASKED = {
    "temperature": names.REQUEST_TEMPERATURE,
    "top_p": names.REQUEST_TOP_P,
    "max_tokens": names.REQUEST_MAX_TOKENS,
    "max_completion_tokens": names.REQUEST_MAX_TOKENS,
    "max_output_tokens": names.REQUEST_MAX_TOKENS,
}
"""Fields of a request in the APIs, and their attributes."""


_TRANSPORTS = {"stdio": "pipe"}
"""Transports of MCP servers that the conventions call otherwise; the others are HTTP."""


class Observed:
    """A session that is observed."""

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._telemetry = telemetry()
        self._options = Options()
        self._recorder: Recorder | None = None
        self._is_counted = False
        self._prompted = ""
        self._early: list[HookTrace] = []

    def register(self) -> Self:
        """Observe the session."""
        on = self._pi.on
        on("session_start", self.begin)
        on("input", self._input)
        on("before_agent_start", self._prompt_begins)
        on("agent_start", self._prompt_begins)
        on("turn_end", self._turn_end)
        on("before_model_request", self._before_model_request)
        on("before_provider_request", self._before_provider_request)
        on("after_provider_response", self._after_provider_response)
        on("model_usage", self._model_usage)
        on("message_start", self._message_start)
        on("message_end", self._message_end)
        on("tool_execution_start", self._tool_start)
        on("tool_execution_end", self._tool_end)
        on("session_before_compact", self._before_compact)
        on("session_compact", self._compact)
        on("session_compact_failed", self._compact_failed)
        on("child_session_start", self._child_start)
        on("child_session_end", self._child_end)
        on("child_environment", self._child_environment)
        on("agent_settled", self._settled)
        on("session_shutdown", self._shutdown)
        self._pi.observe_hooks(self._hook)
        return self

    def _note(self, step: Callable[[Recorder], object]) -> None:
        """Let the recorder take a step, now or when there is one."""

        def take(outlet: Outlet) -> None:
            if self._recorder is None:
                from pi_otel.recorder import Recorder

                self._recorder = Recorder(outlet, self._telemetry.parents, self._options.hook_threshold)
            step(self._recorder)

        self._telemetry.do(take)

    # The session and its prompts

    def begin(self, ctx: PiContext) -> None:
        """Read the settings, once the session has started."""
        self._options = read_options(ctx.settings)
        if not self._is_counted:
            self._is_counted = True
            self._telemetry.sessions += 1
            early, self._early = self._early, []
            for trace in early:
                self._hook(trace)

    async def _shutdown(self, event: Any, ctx: PiContext) -> None:
        if not self._is_counted:
            return
        self._is_counted = False
        self._telemetry.sessions -= 1
        if event.reason == "quit" and not self._telemetry.sessions:
            problem = await self._telemetry.finish()
            if problem is not None:  # the front end may be gone already, so it is written when its screen is, too
                atexit.register(_write_warning, ctx.secrets.redact(problem))

    def _input(self, event: Any) -> None:
        at = time_ns()
        self._note(lambda to: to.text_arrived(at))

    def _prompt_begins(self, event: Any, ctx: PiContext) -> None:
        at, session, model, ambient = time_ns(), ctx.session.id, ctx.model, _ambient()
        caller = getattr(event, "trace_context", {})
        self._telemetry.at_work[session] = self
        self._prompted = session

        def begin(to: Recorder) -> None:
            from pi_otel.recorder import Prompt

            to.prompt_began(at, Prompt(session, model, caller, ambient, os.environ))

        self._note(begin)

    def _turn_end(self, event: Any) -> None:
        at = time_ns()
        self._note(lambda to: to.turn_ended(at))

    def _settled(self, event: Any) -> None:
        at = time_ns()
        self._telemetry.at_work.pop(self._prompted, None)
        self._note(lambda to: to.prompt_settled(at, aborted=event.aborted))
        self._telemetry.load()

    # Requests

    def _before_model_request(self, event: Any, ctx: PiContext) -> None:
        at = time_ns()
        content: dict[str, str] = {}
        if self._options.content:
            from pi_otel.content import messages_json, text_json

            redact = ctx.secrets.clean
            with suppress(Exception):  # a message of an unknown form: this hook would refuse the request if it failed
                content = {
                    names.SYSTEM_INSTRUCTIONS: text_json(event.system_prompt, redact),
                    names.INPUT_MESSAGES: messages_json(event.messages, redact),
                }
        self._note(lambda to: to.request_began(at, event, content))

    async def _before_provider_request(self, event: Any) -> None:
        payload = event.payload if isinstance(event.payload, dict) else {}
        asked = {name: payload[key] for key, name in _ASKED.items() if isinstance(payload.get(key), int | float)}
        self._note(lambda to: to.request_sent(event.request_id, asked))
        if self._options.propagates:
            event.headers.update(await self.headers(event.request_id))

    def _after_provider_response(self, event: Any) -> None:
        at = time_ns()
        self._note(lambda to: to.status_arrived(event.request_id, event.status))
        if event.purpose != "conversation":
            self._note(lambda to: to.answer_began(at, event.request_id))
        self._telemetry.load()

    def _message_start(self, event: Any) -> None:
        if event.request_id:
            at = time_ns()
            self._note(lambda to: to.answer_began(at, event.request_id))
            self._telemetry.load()

    def _model_usage(self, event: Any, ctx: PiContext) -> None:
        at = time_ns()
        content: dict[str, str] = {}
        if self._options.content and event.answer is not None:
            from pi_otel.content import output_json

            with suppress(Exception):
                content = {names.OUTPUT_MESSAGES: output_json(event.answer, ctx.secrets.clean)}
        self._note(lambda to: to.request_ended(at, event, content))

    def _message_end(self, event: Any) -> None:
        if event.message.role == "assistant":
            at = time_ns()
            self._note(lambda to: to.answered(at, event.request_id, event.message))

    # Tools, programs, compactions, child sessions, hooks

    def _tool_start(self, event: Any, ctx: PiContext) -> None:
        at = time_ns()
        content: dict[str, str] = {}
        if self._options.content:
            from pi_otel.content import plain_json

            content = {names.TOOL_ARGUMENTS: plain_json(event.args, ctx.secrets.clean)}
        self._note(lambda to: to.tool_began(at, event.tool_call_id, event.tool_name, content))

    def _tool_end(self, event: Any, ctx: PiContext) -> None:
        at, result = time_ns(), None
        if self._options.content:
            from pi_otel.content import parts_json

            result = parts_json(event.result.content, ctx.secrets.clean)
        error = "tool_error" if event.is_error else None
        more = _of_server(event)
        self._note(lambda to: to.tool_ended(at, event.tool_call_id, error, result, more))

    async def _child_environment(self, event: Any, ctx: PiContext) -> dict[str, str | None] | None:
        if ctx.is_idle():
            return None
        headers = await self.headers(getattr(ctx, "call_id", None))
        return {name.upper(): value for name, value in headers.items()} or None

    async def headers(self, key: str | None) -> dict[str, str]:
        """Return ``traceparent`` and ``tracestate`` of a request or a tool call, else of what runs now."""
        await self._telemetry.loaded()
        return {} if self._recorder is None else self._recorder.headers(key)

    def _before_compact(self, event: Any) -> None:
        at, tokens = time_ns(), event.preparation.tokens_before
        self._note(lambda to: to.compaction_began(at, event.reason, tokens))

    def _compact(self, event: Any, ctx: PiContext) -> None:
        at, usage = time_ns(), ctx.context_usage()
        after = None if usage is None else usage.tokens
        self._note(lambda to: to.compaction_ended(at, error=None, reason=event.reason, after=after))

    def _compact_failed(self, event: Any) -> None:
        at, error = time_ns(), "aborted" if event.aborted else names.OTHER_ERROR
        self._note(lambda to: to.compaction_ended(at, error=error, reason=None))

    def _child_start(self, event: Any) -> None:
        self._note(lambda to: to.child_began(event.child.id, event.child.parent_call))

    def _child_end(self, event: Any) -> None:
        self._note(lambda to: to.child_ended(event.child.id))

    def _hook(self, trace: HookTrace) -> None:
        if self._is_counted:
            self._note(lambda to: to.hook_called(trace))
        else:  # the settings, which the recorder is made with, are read when the session starts
            self._early.append(trace)


def _of_server(event: Any) -> dict[str, str]:
    """Return how a tool of an MCP server was called, by the details of its result."""
    details = event.result.details
    if not event.tool_name.startswith("mcp__") or not isinstance(details, dict):
        return {}
    transport = details.get("transport")
    found = {
        names.MCP_PROTOCOL: details.get("protocol"),
        names.TRANSPORT: _TRANSPORTS.get(transport, "tcp") if isinstance(transport, str) else None,
    }
    return {name: value for name, value in found.items() if isinstance(value, str)}


def _write_warning(text: str) -> None:
    """Write a line to stderr; a collector's own words may have characters that a terminal executes."""
    line = "".join(each if each.isprintable() else "?" for each in text)
    with suppress(OSError, ValueError):
        sys.stderr.write(f"Warning: {line}\n")
        sys.stderr.flush()


def _ambient() -> Any:
    """Return the program's own context where it is inside a span; None otherwise, without importing OpenTelemetry."""
    if "opentelemetry.context" not in sys.modules:
        return None
    from opentelemetry import context, trace

    return context.get_current() if trace.get_current_span().get_span_context().is_valid else None
