"""Whether a session has a memory: where it has none, the model is offered no tools for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_memory._places import exists_any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiAPI, PiContext, SessionStartEvent

__all__ = ["Offer"]


class Offer:
    """Offers ``remember`` and ``forget`` where there is a MEMORY.md, or ``memory.enabled`` is true.

    Args:
        pi: Where the tools are added.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._take_away: list[Callable[[], None]] = []

    def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Look again: another session may be of another project."""
        while self._take_away:
            self._take_away.pop()()
        if not (exists_any(ctx) or ctx.settings.get_bool("memory.enabled", default=False)):
            return
        from pi_memory._tools import forget, remember

        self._take_away = [self._pi.register_tool(remember), self._pi.register_tool(forget)]
