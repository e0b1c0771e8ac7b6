"""OpenTelemetry for pi: spans and metrics, sent where the standard variables specify. Off by default.

Neither this module nor ``activate`` imports anything of ``opentelemetry``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_hookspecs import PiAPI, PiContext, PluginSetting

__all__ = ["activate", "pi_when", "register_services", "register_settings"]

pi_when = {
    "env": ["OTEL_EXPORTER_OTLP*_ENDPOINT", "OTEL_*_EXPORTER"],
    "settings": ["otel.enabled"],
}
"""Where none of these is set, the plugin is not even imported."""


@hookimpl
def register_settings() -> list[PluginSetting]:
    """Declare ``otel.*``; protected, because they decide what leaves this computer."""
    from pi_otel.options import settings

    return settings()


class SpanContext:
    """Implements ``TraceContext``: the span of the tool call, or of the prompt, of an observed session."""

    async def trace_context(self, ctx: PiContext) -> Mapping[str, str]:
        """Return ``traceparent`` and ``tracestate``; empty for a session that is not observed."""
        import sys

        if "pi_otel.telemetry" not in sys.modules:
            return {}
        from pi_otel.telemetry import telemetry

        observed = telemetry().at_work.get(ctx.session.id)
        return {} if observed is None else await observed.headers(getattr(ctx, "call_id", None))


@hookimpl
def register_services() -> Sequence[SpanContext]:
    """Return what knows the current span."""
    return [SpanContext()]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Observe the session where the environment asks for it; where only a setting may, ask when the session starts."""
    from pi_otel.variables import is_disabled, is_wanted

    if is_wanted():
        from pi_otel.session import Observed

        Observed(pi).register()
    elif not is_disabled():

        def ask_settings(ctx: PiContext) -> None:
            from pi_otel.options import own_setting

            stop_asking()
            if own_setting(ctx.settings, "enabled") is True:
                from pi_otel.session import Observed

                Observed(pi).register().begin(ctx)

        stop_asking: Callable[[], None] = pi.on("session_start", ask_settings)
