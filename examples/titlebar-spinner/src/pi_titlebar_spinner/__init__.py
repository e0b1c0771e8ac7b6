"""Shows a spinner in the window title during an answer."""

import asyncio
from itertools import cycle

from pi_hookspecs import PiAPI, PiContext, hookimpl

FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
INTERVAL = 0.08
"""Seconds between two frames."""


@hookimpl
def activate(pi: PiAPI) -> None:
    spinner: asyncio.Task[None] | None = None

    async def spin(ctx: PiContext) -> None:
        for frame in cycle(FRAMES):
            ctx.ui.set_title(f"{frame} pi - {ctx.cwd.name}")
            await asyncio.sleep(INTERVAL)

    @pi.on("agent_start")
    def start(ctx: PiContext) -> None:
        nonlocal spinner
        stop(ctx)
        spinner = asyncio.get_running_loop().create_task(spin(ctx))

    @pi.on("agent_end")
    @pi.on("session_shutdown")  # a session that is closed in the middle of an answer
    def stop(ctx: PiContext) -> None:
        nonlocal spinner
        if spinner is not None:
            spinner.cancel()
            spinner = None
            ctx.ui.set_title(f"pi - {ctx.cwd.name}")
