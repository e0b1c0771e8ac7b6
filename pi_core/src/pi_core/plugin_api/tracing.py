"""Asks the tracing plugin for the current span. If it fails, the failure is reported and nothing else is affected."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import safe_repr
from pi_core.hooks.containment import reported

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import PiContext

__all__ = ["ask_trace_context"]


async def ask_trace_context(runtime: Runtime, ctx: PiContext) -> Mapping[str, str]:
    """Return the trace context of the ``TraceContext`` service, else the trace context passed with the prompt."""
    provider = runtime.host.find("register_services", "TraceContext")
    found: Mapping[str, str] = {}
    if provider is not None:
        step, failed = "TraceContext.trace_context", "to return the trace context"
        with reported(runtime.report_plugin_error, provider.plugin, step, failed):
            answer = provider.thing.trace_context(ctx)
            found = _checked(await answer if isawaitable(answer) else answer)
    return found or dict(runtime.gate.trace_context)


def _checked(answer: object) -> Mapping[str, str]:
    if isinstance(answer, Mapping) and all(isinstance(each, str) for item in answer.items() for each in item):
        return answer
    raise TypeError(f"it returned {safe_repr(answer)}, which is not a mapping of strings")
