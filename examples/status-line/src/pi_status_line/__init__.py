"""Shows the progress of an answer in the status line."""

from pi_hookspecs import PiContext, TurnEndEvent, TurnStartEvent, hookimpl

KEY = "status-line"


@hookimpl
def session_start(ctx: PiContext) -> None:
    ctx.ui.set_status(KEY, "Ready")


@hookimpl
def turn_start(event: TurnStartEvent, ctx: PiContext) -> None:
    ctx.ui.set_status(KEY, f"Turn {event.turn_index + 1} ...")


@hookimpl
def turn_end(event: TurnEndEvent, ctx: PiContext) -> None:
    ctx.ui.set_status(KEY, f"Turn {event.turn_index + 1} done, {len(event.tool_results)} tool calls")
