"""The values of the standard variables. Read at every start that may be observed, so nothing else is imported here."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXPORTERS", "exporter_of", "is_disabled", "is_refused", "is_wanted"]

EXPORTERS = {"TRACES": "OTEL_TRACES_EXPORTER", "METRICS": "OTEL_METRICS_EXPORTER"}
"""The variable of each signal that names its exporter."""

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def is_disabled(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether ``OTEL_SDK_DISABLED`` forbids everything, whatever else is set."""
    return environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"


def is_wanted(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a variable asks for spans or for metrics."""
    return not is_disabled(environ) and any(exporter_of(signal, environ) for signal in ("TRACES", "METRICS"))


def exporter_of(signal: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the exporter that the variables ask for, ``otlp`` for an address alone; None if they ask for none.

    Args:
        signal: ``TRACES`` or ``METRICS``.
        environ: The environment variables.
    """
    name = environ.get(EXPORTERS[signal], "").strip()
    if name:
        return None if name.lower() == "none" else name
    has_address = environ.get(_ENDPOINT) or environ.get(f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT")
    return "otlp" if has_address else None


def is_refused(signal: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a variable is ``none`` for a signal, which a setting does not override."""
    return environ.get(EXPORTERS[signal], "").strip().lower() == "none"
