"""Records the state of the files before each turn, so that a fork can restore them."""

from pi_hookspecs import (
    CustomEntry,
    PiAPI,
    PiContext,
    SessionBeforeForkEvent,
    SessionBeforeForkResult,
    TurnStartEvent,
    hookimpl,
)

TYPE = "git-checkpoint"


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.on("turn_start")
    async def remember(event: TurnStartEvent, ctx: PiContext) -> None:
        stash = await ctx.exec("git", ["stash", "create"])  # a commit of the files as they are; nothing is moved
        if stash.code == 0 and not stash.stdout:
            stash = await ctx.exec("git", ["rev-parse", "HEAD"])  # no changes
        commit = stash.stdout.strip()
        if stash.code == 0 and commit != _checkpoint(ctx, ctx.session.leaf_id):
            pi.append_entry(TYPE, commit)

    @pi.on("session_before_fork")
    async def offer(event: SessionBeforeForkEvent, ctx: PiContext) -> SessionBeforeForkResult | None:
        commit = _checkpoint(ctx, event.entry_id)
        if commit is None or not ctx.has_ui:
            return None
        if not await ctx.ui.confirm(
            "Take the files back, too?", f"Tracked files become what they were in {commit[:7]}."
        ):
            return None
        restored = await ctx.exec("git", ["restore", "--source", commit, "--", ":/"])
        if restored.code != 0:
            ctx.ui.notify(f"Could not take the files back: {restored.stderr.strip()}", "error")
            return SessionBeforeForkResult(cancel=True)
        ctx.ui.notify(f"The files are what they were in {commit[:7]}.")
        return None


def _checkpoint(ctx: PiContext, entry_id: str | None) -> str | None:
    """Return the latest commit that was remembered on the way to an entry."""
    for entry in reversed(ctx.session.branch(entry_id) if entry_id is not None else ()):
        if isinstance(entry, CustomEntry) and entry.custom_type == TYPE:
            return str(entry.data)
    return None
