"""Dialogs that close automatically: ``/timed`` after some seconds, ``/signalled`` when a program aborts it."""

import asyncio

from pi_hookspecs import AbortController, PiAPI, PiContext, hookimpl

SECONDS = 5.0


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("timed", description="Ask, and take silence for a no")
    async def timed(args: str, ctx: PiContext) -> None:
        agreed = await ctx.ui.confirm("Go on?", "Without an answer it is a no.", timeout=float(args or SECONDS))
        ctx.ui.notify("Going on." if agreed else "Not going on.")

    @pi.register_command("signalled", description="Ask, and take the question back after a while")
    async def signalled(args: str, ctx: PiContext) -> None:
        patience = AbortController()
        timer = asyncio.get_running_loop().call_later(float(args or SECONDS), patience.abort, "No answer in time")
        try:
            agreed = await ctx.ui.confirm("Go on?", signal=patience.signal)
        finally:
            timer.cancel()
        # The signal distinguishes a "no" from no answer, which a timeout does not.
        ctx.ui.notify(patience.signal.reason or ("Going on." if agreed else "The user said no."))
