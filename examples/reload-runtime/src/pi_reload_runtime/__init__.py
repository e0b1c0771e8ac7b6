"""``/reload-runtime``: loads plugins and local extensions anew, once the answer that is being made is done."""

from pi_hookspecs import Command, PiContext, SessionStartEvent, hookimpl


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="reload-runtime", handler=reload_runtime, description="Load plugins and extensions anew")]


async def reload_runtime(args: str, ctx: PiContext) -> None:
    await ctx.wait_for_idle()
    await ctx.reload()  # the last thing that this ctx does: it is stale afterwards


@hookimpl
def session_start(event: SessionStartEvent, ctx: PiContext) -> None:
    if event.reason == "reload":
        ctx.ui.notify("Plugins were loaded anew.")
