"""``/session-name NAME`` names the session; without an argument it shows the current name."""

from pi_hookspecs import PiAPI, PiContext, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("session-name", description="Name the session, or tell its name")
    async def session_name(args: str, ctx: PiContext) -> None:
        if args:
            await pi.set_session_name(args)
            ctx.ui.notify(f"This session is called {args!r} now.")
        else:
            ctx.ui.notify(pi.get_session_name() or "This session has no name.")
