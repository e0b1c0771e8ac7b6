"""Registers the memory tools only in sessions with a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting
from pi_memory.places import exists_any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiAPI, PiContext, SessionStartEvent

__all__ = ["ENABLED", "Offer"]

ENABLED = PluginSetting(
    "memory.enabled",
    schema={"type": "boolean", "default": False},
    description="Offer the memory tools even if there is no MEMORY.md yet",
    project="set",
)


class Offer:
    """Registers ``remember`` and ``forget`` where there is a MEMORY.md, or ``memory.enabled`` is true.

    Args:
        pi: Registers the tools.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._take_away: list[Callable[[], None]] = []

    def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Check again: another session may be of another project."""
        while self._take_away:
            self._take_away.pop()()
        if not (exists_any(ctx) or ENABLED.read(ctx.settings)):
            return
        from pi_memory.tools import forget, remember

        self._take_away = [self._pi.register_tool(remember), self._pi.register_tool(forget)]
