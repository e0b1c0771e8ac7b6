"""Shows the current model and the previous one in the status line."""

from pi_hookspecs import ModelSelectEvent, PiContext, hookimpl


@hookimpl
def session_start(ctx: PiContext) -> None:
    if ctx.model is not None:
        ctx.ui.set_status("model", ctx.model.reference)


@hookimpl
def model_select(event: ModelSelectEvent, ctx: PiContext) -> None:
    before = f" (was {event.previous_model.id})" if event.previous_model is not None else ""
    ctx.ui.set_status("model", event.model.reference + before)
