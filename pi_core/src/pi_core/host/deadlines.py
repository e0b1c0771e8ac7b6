"""Reads the deadlines of hooks from the settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.hooks.dispatcher import Timeouts
from pi_core.host.guarded import SHORTEST_TIMEOUT

if TYPE_CHECKING:
    from pi_core.settings import Settings

__all__ = ["deadlines_of"]


def deadlines_of(settings: Settings) -> Timeouts:
    """Return the deadlines of hooks: the general one, and those for individual plugins and hooks."""
    return Timeouts(
        default=settings.get_number("hooks.timeout", None, minimum=SHORTEST_TIMEOUT),
        plugins=_seconds(settings, "plugins"),
        hooks=_seconds(settings, "specs"),
        shutdown=settings.get_number("hooks.shutdownTimeout", Timeouts().shutdown, minimum=SHORTEST_TIMEOUT),
        waiting=settings.get_number("hooks.waitingTimeout", Timeouts().waiting, minimum=SHORTEST_TIMEOUT),
        block=settings.get_number("hooks.blockTimeout", Timeouts().block, minimum=SHORTEST_TIMEOUT),
    )


def _seconds(settings: Settings, kind: str) -> dict[str, float]:
    """Return ``hooks.<kind>.<name>.timeout`` for every name that has one."""
    names = settings.get_object(("hooks", kind))
    found = {
        name: settings.get_number(("hooks", kind, name, "timeout"), None, minimum=SHORTEST_TIMEOUT) for name in names
    }
    return {name: seconds for name, seconds in found.items() if seconds is not None}
