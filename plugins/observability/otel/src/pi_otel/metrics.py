"""The metrics: which instruments there are, and what is recorded when. No session, path or text is an attribute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_otel import names

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

    from pi_hookspecs import HookTrace, Usage

__all__ = ["Metrics"]


class Metrics:
    """The instruments of one meter."""

    def __init__(self, meter: Meter) -> None:
        seconds = names.DURATION_BUCKETS
        histogram = meter.create_histogram
        self._tokens = histogram(
            names.TOKEN_USAGE,
            unit="{token}",
            description="Tokens of a request",
            explicit_bucket_boundaries_advisory=names.TOKEN_BUCKETS,
        )
        self._operation = histogram(
            names.OPERATION_DURATION,
            unit="s",
            description="Time of a request",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._first_chunk = histogram(
            names.FIRST_CHUNK,
            unit="s",
            description="Time until an answer begins",
            explicit_bucket_boundaries_advisory=names.FIRST_CHUNK_BUCKETS,
        )
        self._agent = histogram(
            names.AGENT_DURATION,
            unit="s",
            description="Time of a prompt",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._tool = histogram(
            names.TOOL_DURATION,
            unit="s",
            description="Time of a tool call",
            explicit_bucket_boundaries_advisory=seconds,
        )
        self._hook = histogram(
            names.HOOK_DURATION,
            unit="s",
            description="Time of a plugin's hook",
            explicit_bucket_boundaries_advisory=(0.0001, 0.001, 0.005, *seconds),
        )
        self._cost = meter.create_counter(names.COST, unit="USD", description="Cost of requests")
        self._compactions = meter.create_counter(names.COMPACTIONS, unit="{compaction}", description="Compactions")

    def request(self, common: dict[str, Any], seconds: float, first_chunk: float | None, usage: Usage) -> None:
        """Record a request that has ended; ``common`` are its attributes, with ``error.type`` if it failed."""
        self._operation.record(seconds, common)
        if first_chunk is not None:
            self._first_chunk.record(first_chunk, common)
        counted = {name: value for name, value in common.items() if name != names.ERROR}
        for kind, number in (("input", usage.input + usage.cache_read + usage.cache_write), ("output", usage.output)):
            if number:
                self._tokens.record(number, {**counted, names.TOKEN_TYPE: kind})
        if usage.cost.total > 0:
            self._cost.add(usage.cost.total, counted)

    def prompt(self, common: dict[str, Any], seconds: float) -> None:
        """Record a prompt that has settled."""
        self._agent.record(seconds, common)

    def tool(self, common: dict[str, Any], seconds: float) -> None:
        """Record a tool call that has ended."""
        self._tool.record(seconds, common)

    def hook(self, trace: HookTrace) -> None:
        """Record the call of a hook."""
        self._hook.record(
            trace.milliseconds / 1000,
            {names.PLUGIN: trace.plugin, names.HOOK: trace.hook, names.HOOK_OUTCOME: trace.outcome},
        )

    def compaction(self, reason: str) -> None:
        """Count a compaction."""
        self._compactions.add(1, {names.REASON: reason})
