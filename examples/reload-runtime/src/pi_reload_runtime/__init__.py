"""Reloads plugins and local extensions: ``/reload-runtime`` for the user, a tool of that name for the model."""

import asyncio

from pi_hookspecs import PiAPI, PiContext, SessionStartEvent, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    session: PiContext | None = None
    reloading: asyncio.Task[None] | None = None

    @pi.on("session_start")
    def begin(event: SessionStartEvent, ctx: PiContext) -> None:
        nonlocal session
        session = ctx
        if event.reason == "reload":
            ctx.ui.notify("Plugins were reloaded.")

    async def reload(ctx: PiContext) -> None:
        await ctx.wait_for_idle()
        await ctx.reload()  # the last thing that this ctx does: it is stale afterwards

    @pi.register_command("reload-runtime", description="Reload plugins and extensions")
    async def command(args: str, ctx: PiContext) -> None:
        await reload(ctx)

    @pi.register_tool
    async def reload_runtime() -> str:
        """Load pi's plugins and extensions anew when this answer is done, for example after changing one."""
        nonlocal reloading
        if session is not None:
            # The prompt waits for this tool, so that the tool cannot wait for the prompt; a task of its own can.
            reloading = asyncio.get_running_loop().create_task(reload(session))
        return "They are loaded when this answer is done. Finish it now."
