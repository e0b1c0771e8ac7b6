"""The settings ``web.*``; a project can only make them stricter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from pi_hookspecs import PluginSetting

if TYPE_CHECKING:
    from pi_hookspecs import SettingsView

__all__ = ["SETTINGS", "Options", "read_options"]

MAX_BYTES = 5 * 1024 * 1024
TIMEOUT = 30.0

_PRIVATE = PluginSetting(
    "web.allowPrivate",
    schema={"type": "array", "items": {"type": "string"}, "default": []},
    description="Hosts, or host:port, that fetch may reach at private addresses",
    protected=True,
    project="narrow",
)
_BYTES = PluginSetting(
    "web.maxBytes",
    schema={"type": "integer", "minimum": 1, "default": MAX_BYTES},
    description="Most bytes of one page",
    project="lower",
)
_SECONDS = PluginSetting(
    "web.timeout",
    schema={"type": "number", "exclusiveMinimum": 0, "default": TIMEOUT},
    description="Seconds for one page, redirects included",
    project="lower",
)
SETTINGS = (_PRIVATE, _BYTES, _SECONDS)


@frozen
class Options:
    """The settings of a call.

    Attributes:
        private: Hosts in lower case, as ``name`` or ``name:port``, that may have private addresses.
        max_bytes: Most bytes of an answer.
        seconds: The time for all of it.
    """

    private: frozenset[str] = frozenset()
    max_bytes: int = MAX_BYTES
    seconds: float = TIMEOUT


def read_options(settings: SettingsView) -> Options:
    """Return the settings."""
    return Options(
        frozenset(each.lower() for each in settings.get_str_list(_PRIVATE.name)),
        int(settings.get_number(_BYTES.name, MAX_BYTES, minimum=1)),
        float(settings.get_number(_SECONDS.name, TIMEOUT, minimum=0.001)),
    )
