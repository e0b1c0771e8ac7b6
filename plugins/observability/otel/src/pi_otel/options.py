"""How a session is observed, by the user's own settings. A project's settings do not count.

A project may be a stranger's, and what is sent out may contain the user's code.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_hookspecs import PluginSetting, SettingsView

__all__ = ["Options", "own_setting", "read_options", "settings"]

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_DEFAULTS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "enabled": (False, {"type": "boolean"}, "Send spans and metrics, also without a variable that asks for it"),
    "content": (False, {"type": "boolean"}, "Put messages, arguments and results of tools into the spans"),
    "hookThreshold": (5, {"type": "number", "minimum": 0}, "Milliseconds from which a plugin's hook gets a span"),
    "propagateToProviders": (False, {"type": "boolean"}, "Send traceparent with the requests to providers"),
}


@frozen(kw_only=True)
class Options:
    """How a session is observed.

    Attributes:
        content: Whether messages, arguments and results are put into the spans.
        hook_threshold: Milliseconds from which the call of a hook gets a span.
        propagates: Whether requests to providers have ``traceparent``.
    """

    content: bool = False
    hook_threshold: float = 5.0
    propagates: bool = False


def settings() -> list[PluginSetting]:
    """Return the declarations of the settings."""
    from pi_hookspecs import PluginSetting

    return [
        PluginSetting(f"otel.{name}", schema=schema, description=description, protected=True, project="nothing")
        for name, (_, schema, description) in _DEFAULTS.items()
    ]


def read_options(view: SettingsView, environ: Mapping[str, str] = os.environ) -> Options:
    """Return how to observe a session with these settings."""
    threshold: object = own_setting(view, "hookThreshold")
    return Options(
        content=environ.get(_CONTENT, "").strip().lower() in {"span_only", "true"}
        or own_setting(view, "content") is True,
        hook_threshold=threshold if isinstance(threshold, int | float) and threshold >= 0 else 5.0,
        propagates=own_setting(view, "propagateToProviders") is True,
    )


def own_setting(view: SettingsView, name: str) -> Any:
    """Return the value of ``otel.NAME``, else its default."""
    return view.get(f"otel.{name}", _DEFAULTS[name][0])
