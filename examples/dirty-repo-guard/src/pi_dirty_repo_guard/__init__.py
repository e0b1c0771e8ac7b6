"""Asks for confirmation before the user leaves a conversation if the repository has uncommitted changes."""

from pi_hookspecs import (
    PiContext,
    SessionBeforeForkEvent,
    SessionBeforeForkResult,
    SessionBeforeSwitchEvent,
    SessionBeforeSwitchResult,
    hookimpl,
)


@hookimpl
async def session_before_switch(event: SessionBeforeSwitchEvent, ctx: PiContext) -> SessionBeforeSwitchResult | None:
    return SessionBeforeSwitchResult(cancel=True) if await _stays(ctx) else None


@hookimpl
async def session_before_fork(event: SessionBeforeForkEvent, ctx: PiContext) -> SessionBeforeForkResult | None:
    return SessionBeforeForkResult(cancel=True) if await _stays(ctx) else None


async def _stays(ctx: PiContext) -> bool:
    status = await ctx.exec("git", ["status", "--porcelain"])
    changed = status.stdout.splitlines()
    if status.code != 0 or not changed:
        return False  # no repository, or nothing to lose
    if not ctx.has_ui:
        return True
    title = f"{len(changed)} uncommitted file{'' if len(changed) == 1 else 's'}. Go on?"
    return await ctx.ui.select(title, ["Stay here", "Go on without a commit"]) != "Go on without a commit"
