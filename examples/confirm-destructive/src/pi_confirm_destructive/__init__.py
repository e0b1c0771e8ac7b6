"""Asks for confirmation before the user leaves the conversation for a new one, a stored one or a fork."""

from pi_hookspecs import (
    MessageEntry,
    PiContext,
    SessionBeforeForkEvent,
    SessionBeforeForkResult,
    SessionBeforeSwitchEvent,
    SessionBeforeSwitchResult,
    hookimpl,
)


@hookimpl
async def session_before_switch(event: SessionBeforeSwitchEvent, ctx: PiContext) -> SessionBeforeSwitchResult | None:
    if not ctx.has_ui or not any(isinstance(entry, MessageEntry) for entry in ctx.session.branch()):
        return None  # no user to ask, or nothing to lose
    title = "Start a new session?" if event.reason == "new" else "Go over to another session?"
    if await ctx.ui.confirm(title, "This conversation ends here; it can be resumed later."):
        return None
    return SessionBeforeSwitchResult(cancel=True)


@hookimpl
async def session_before_fork(event: SessionBeforeForkEvent, ctx: PiContext) -> SessionBeforeForkResult | None:
    if not ctx.has_ui or await ctx.ui.confirm("Fork?", f"A new session will continue from entry {event.entry_id}."):
        return None
    return SessionBeforeForkResult(cancel=True)
