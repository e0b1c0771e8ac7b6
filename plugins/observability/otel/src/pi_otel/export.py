"""The destination of spans and metrics: the program's own configuration, else pi's exporters.

This module imports the SDK, a quarter of a second or more, and is itself imported in a thread.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any, cast

from attrs import define, field
from opentelemetry import metrics, trace

from pi_otel.metrics import Metrics
from pi_otel.variables import EXPORTERS, exporter_of, is_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

__all__ = ["Outlet", "open_outlet"]

_SCOPE = "pi_otel"

_SYSTEM_ERROR = re.compile(r"\[Errno -?[0-9]+\] ([^'\")]+)")
"""The system's error text, deep inside the message of an HTTP library."""

_LONGEST = 300
"""Characters of a reason."""


@define(eq=False)
class Outlet:
    """The recorders of spans and metrics.

    Attributes:
        flushes: Functions that send what waits; they may take as long as they like.
        spans: Counts the spans of pi's own exporter.
        log: Has what the SDK last reported as an error.
        address: Where the spans go, for messages.
    """

    tracer: Tracer
    metrics: Metrics
    version: str
    flushes: list[Callable[[], object]] = field(factory=list)
    spans: _Tally | None = None
    log: _ErrorLog | None = None
    address: str = ""

    def flush(self, done: Callable[[], object]) -> None:
        """Send what waits, in threads that do not keep the process alive; ``done`` is called in one of them."""
        threads = [threading.Thread(target=each, name="pi-otel-flush", daemon=True) for each in self.flushes]
        for each in threads:
            each.start()

        def wait() -> None:
            for each in threads:
                each.join()
            done()

        threading.Thread(target=wait, name="pi-otel-flushed", daemon=True).start()

    def problem(self) -> str | None:
        """Return a sentence about what could not be sent; None if everything was."""
        unsent = 0 if self.spans is None else self.spans.ended - self.spans.sent
        error = None if self.log is None else self.log.error
        if not unsent and error is None:
            return None
        what = f"{unsent} of {self.spans.ended} spans" if unsent and self.spans is not None else "metrics"
        reason = f": {self.log.seen}" if self.log is not None and self.log.seen else ", which did not answer in time"
        return f"OpenTelemetry: {what} could not be sent to {self.address}{reason}"


def open_outlet() -> Outlet:
    """Return what records; a program that has set OpenTelemetry up itself is in charge of all of it.

    Raises:
        ValueError: A variable names an exporter that is not installed.
    """
    from importlib.metadata import version

    own = version("pluggypi-otel")
    if _is_set(trace.get_tracer_provider()) or _is_set(metrics.get_meter_provider()):
        tracer, meter = trace.get_tracer(_SCOPE, own), metrics.get_meter(_SCOPE, own)
        return Outlet(tracer=tracer, metrics=Metrics(meter), version=own)
    return _own_outlet(own)


def _is_set(provider: object) -> bool:
    """Return whether a provider is more than the placeholder that the API gives until there is one."""
    return "Proxy" not in type(provider).__name__


def _own_outlet(own: str) -> Outlet:
    from opentelemetry.sdk.resources import Resource

    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource.create({} if named else {"service.name": "pi"})
    outlet = Outlet(
        tracer=trace.NoOpTracer(), metrics=Metrics(metrics.NoOpMeter(_SCOPE)), version=own, log=_error_log()
    )
    if not is_refused("TRACES"):
        _trace_to(outlet, exporter_of("TRACES") or _as_other("METRICS"), resource)
    if not is_refused("METRICS"):
        _measure_to(outlet, exporter_of("METRICS") or _as_other("TRACES"), resource)
    return outlet


def _as_other(signal: str) -> str | None:
    """Return ``otlp`` for a signal that no variable names, unless one names the other signal alone."""
    return None if exporter_of(signal) else "otlp"


def _trace_to(outlet: Outlet, name: str | None, resource: Any) -> None:
    if name is None:
        return
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    outlet.spans = spans = _Tally(_exporter("traces", name))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(spans.counting())
    provider.add_span_processor(BatchSpanProcessor(cast("SpanExporter", spans)))
    outlet.tracer = provider.get_tracer(_SCOPE, outlet.version)
    outlet.flushes.append(provider.force_flush)
    outlet.address = _address()


def _measure_to(outlet: Outlet, name: str | None, resource: Any) -> None:
    if name is None:
        return
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    reader = PeriodicExportingMetricReader(_exporter("metrics", name))
    provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    outlet.metrics = Metrics(provider.get_meter(_SCOPE, outlet.version))
    outlet.flushes.append(provider.force_flush)
    outlet.address = outlet.address or _address()


def _exporter(signal: str, name: str) -> Any:
    """Return a new exporter; ``console`` writes to stderr, because stdout has the answer.

    Raises:
        ValueError: It is not installed.
    """
    if name == "console":
        from opentelemetry.sdk.metrics.export import ConsoleMetricExporter
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return (ConsoleSpanExporter if signal == "traces" else ConsoleMetricExporter)(out=sys.stderr)
    if name == "otlp":
        protocol = os.environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL") or os.environ.get(
            "OTEL_EXPORTER_OTLP_PROTOCOL"
        )
        name = "otlp_proto_grpc" if protocol == "grpc" else "otlp_proto_http"
    from importlib.metadata import entry_points

    found = entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
    if not found:
        raise ValueError(
            f"there is no exporter {name!r} for {signal}, so nothing is sent. Install the distribution"
            f" that has it, or set {EXPORTERS[signal.upper()]} to otlp, console or none."
        )
    return next(iter(found)).load()()


def _address() -> str:
    """Return the address of the endpoint, without the parts that hold names, passwords and keys."""
    variables = (
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    )
    address = next((os.environ[each] for each in variables if os.environ.get(each)), "http://localhost:4318")
    scheme, separator, rest = address.partition("://")
    return scheme + separator + rest.rpartition("@")[2].partition("?")[0]


class _Tally:
    """A span exporter that counts what another one sends."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self.ended = 0
        self.sent = 0

    def counting(self) -> Any:
        """Return a span processor that counts the spans that end, those that are dropped later included."""
        from opentelemetry.sdk.trace import SpanProcessor

        tally = self

        class Counting(SpanProcessor):
            def on_end(self, span: ReadableSpan) -> None:
                if span.context is not None and span.context.trace_flags.sampled:
                    tally.ended += 1

        return Counting()

    def export(self, spans: Sequence[ReadableSpan]) -> Any:
        """Send spans."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self.sent += len(spans)
        return result

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        """Send what the exporter itself has kept."""
        return bool(self._exporter.force_flush(timeout_millis))


class _ErrorLog(logging.Handler):
    """Keeps what the SDK reports; without a handler Python would write it to stderr, over the screen.

    Attributes:
        error: The latest error; None as long as there is none.
        seen: The latest message, such as the reason why an attempt is repeated.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.error: str | None = None
        self.seen = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a message; a warning, such as one about an attempt that will be repeated, only as the reason."""
        text = " ".join(record.getMessage().split())
        found = _SYSTEM_ERROR.search(text)
        self.seen = found[1] if found else text[:_LONGEST]
        if record.levelno >= logging.ERROR:
            self.error = self.seen


def _error_log() -> _ErrorLog:
    log = _ErrorLog()
    logging.getLogger("opentelemetry").addHandler(log)
    return log
