"""Commits the changes of a session when pi ends; the first line of the last answer is the message."""

from pi_hookspecs import AssistantMessage, MessageEntry, PiContext, SessionShutdownEvent, hookimpl


@hookimpl
async def session_shutdown(event: SessionShutdownEvent, ctx: PiContext) -> None:
    if event.reason != "quit":
        return
    status = await ctx.exec("git", ["status", "--porcelain"])
    if status.code != 0 or not status.stdout:
        return  # no repository, or nothing to commit
    await ctx.exec("git", ["add", "--all"])
    commit = await ctx.exec("git", ["commit", "--message", f"[pi] {_last_line(ctx)}"[:72]])
    if commit.code == 0:
        ctx.ui.notify("Committed what this session changed.")
    else:
        ctx.ui.notify(f"Could not commit: {commit.stderr.strip()}", "error")


def _last_line(ctx: PiContext) -> str:
    for entry in reversed(ctx.session.branch()):
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage) and entry.message.text:
            return entry.message.text.strip().splitlines()[0]
    return "Work in progress"
