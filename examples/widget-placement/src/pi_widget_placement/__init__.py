"""Shows widgets above and below the editor."""

from pi_hookspecs import PiContext, hookimpl


@hookimpl
def session_start(ctx: PiContext) -> None:
    ctx.ui.set_widget("where", [f"Working in {ctx.cwd.name}"])  # above by default
    ctx.ui.set_widget("how-full", ["No messages yet"], placement="belowEditor")


@hookimpl
def turn_end(ctx: PiContext) -> None:
    usage = ctx.context_usage()
    full = "size unknown" if usage is None or usage.percent is None else f"{usage.percent:.0f} % full"
    ctx.ui.set_widget("how-full", [f"The model's window: {full}"], placement="belowEditor")
