"""A program that has set OpenTelemetry up itself, with everything in memory; pi uses its providers."""

from __future__ import annotations

from collections import defaultdict

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from pi_otel.telemetry import telemetry


class Seen:
    """What was recorded."""

    def __init__(self):
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.tracer_provider = TracerProvider(shutdown_on_exit=False)
        self.tracer_provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        trace.set_tracer_provider(self.tracer_provider)
        metrics.set_meter_provider(MeterProvider([self.reader], shutdown_on_exit=False))

    async def spans(self):
        """Return the ended spans in the order of their beginnings."""
        await telemetry().loaded()
        return sorted(self.exporter.get_finished_spans(), key=lambda each: each.start_time)

    async def named(self, name):
        """Return the only span of a name."""
        (span,) = [each for each in await self.spans() if each.name == name]
        return span

    async def tree(self):
        """Return the names of the spans as indented lines, with what went wrong."""
        children, known = defaultdict(list), set()
        spans = await self.spans()
        for each in spans:
            known.add(each.context.span_id)
        for each in spans:
            parent = each.parent.span_id if each.parent and each.parent.span_id in known else None
            children[parent].append(each)

        def lines(parent, depth):
            for each in children[parent]:
                more = each.attributes.get("error.type") or each.attributes.get("pi.hook.outcome")
                purpose = each.attributes.get("pi.request.purpose", "conversation")
                marks = [mark for mark in (purpose, more) if mark not in ("conversation", "ok", None)]
                if attempt := each.attributes.get("pi.retry.attempt"):
                    marks.append(f"retry {attempt}")
                yield "  " * depth + each.name + "".join(f" ({mark})" for mark in marks)
                yield from lines(each.context.span_id, depth + 1)

        return list(lines(None, 0))

    def metrics(self):
        """Return, by name, the data points of what was measured since the last look at it."""
        data = self.reader.get_metrics_data()  # None where nothing was measured yet
        resources = data.resource_metrics if data is not None else ()
        every = [each for resource in resources for scope in resource.scope_metrics for each in scope.metrics]
        return {each.name: list(each.data.data_points) for each in every}


@pytest.fixture(scope="session")
def _recording():
    return Seen()


@pytest.fixture
def seen(_recording, monkeypatch):
    """What pi records in this test, which is asked for by a variable."""
    for name in ("TRACEPARENT", "TRACESTATE", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    telemetry.cache_clear()
    _recording.exporter.clear()
    yield _recording
    telemetry.cache_clear()
