"""Ends runs in which a local model repeats itself, and asks it again after an empty answer. On by default.

Small models make a call that changed nothing again and again, until the user stops them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from pi_hookspecs import PiAPI, PiContext, TurnEndEvent, TurnEndResult
    from pi_loop_guard.watching import Watch

__all__ = ["activate"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Compare the calls of each turn of a local model with those before."""
    watch: Watch | None = None

    @pi.on("agent_start")
    def begin() -> None:
        if watch is not None:
            watch.clear()

    @pi.on("turn_end")
    def look(event: TurnEndEvent, ctx: PiContext) -> TurnEndResult | None:
        nonlocal watch
        from pi_provider_kit import runs_locally

        if ctx.model is None or not runs_locally(ctx.model):
            return None
        from pi_loop_guard.watching import Watch

        watch = watch or Watch(pi)
        return watch.look(event, ctx)
