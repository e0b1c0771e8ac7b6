"""Makes calls of the tool calls that models write as text, where that is what they mean. On by default.

Models on one's own computer write their calls in a form that the server does not read, and without this plugin the user
gets them as the answer. A call that was read from text passes every guard, hook and approval as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import (
        PiAPI,
        PiContext,
        PluginSetting,
        Service,
        TurnEndEvent,
        TurnEndResult,
    )

__all__ = ["activate", "register_services", "register_settings", "turn_end"]


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the filter that reads calls from the text of answers."""
    from pi_written_calls.holding import WrittenCalls

    return [WrittenCalls()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``writtenCalls.mode``."""
    from pi_written_calls.settings import SETTINGS

    return SETTINGS


@hookimpl
def activate(pi: PiAPI) -> None:
    """Ask about calls where the user wants that. Without this plugin no call is read that it could ask about."""
    asks = False

    @pi.on("turn_start")  # the user may change the setting during a session
    def listen(ctx: PiContext) -> None:
        from pi_written_calls.settings import mode_of

        nonlocal asks
        if not asks and mode_of(ctx.settings) == "ask":
            from pi_written_calls.asking import ask

            asks = True
            pi.on("tool_call", ask)


@hookimpl
def turn_end(event: TurnEndEvent, ctx: PiContext) -> TurnEndResult | None:
    """Tell the model what is wrong with a text that looks like a call and is none."""
    if not event.message.extra:  # of most answers
        return None
    from pi_written_calls.mistakes import hint_for

    return hint_for(event.message, ctx)
