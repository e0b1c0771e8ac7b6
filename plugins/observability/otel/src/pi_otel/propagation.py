"""W3C Trace Context: extraction from headers and variables, and injection into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["context_of", "context_of_environment", "headers_of"]


def context_of(headers: Mapping[str, str]) -> Context:
    """Return the context of ``traceparent`` and ``tracestate``; an empty one without them, or if they are not valid."""
    found: Context = TraceContextTextMapPropagator().extract(headers, Context())
    return found


def context_of_environment(environ: Mapping[str, str]) -> Context:
    """Return the context of the process that started pi; an empty one where it has none."""
    return context_of({name.lower(): environ[name] for name in ("TRACEPARENT", "TRACESTATE") if name in environ})


def headers_of(context: Context) -> dict[str, str]:
    """Return ``traceparent`` and ``tracestate`` of a context."""
    headers: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(headers, context)
    return headers
