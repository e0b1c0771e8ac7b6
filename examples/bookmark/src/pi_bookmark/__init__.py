"""Adds `/bookmark NAME` and `/unbookmark`, which label the last answer so that you can find it in the tree."""

from pi_hookspecs import AssistantMessage, MessageEntry, PiAPI, PiContext, hookimpl


@hookimpl
def activate(pi: PiAPI) -> None:
    @pi.register_command("bookmark", description="Name the last answer")
    def bookmark(args: str, ctx: PiContext) -> None:
        answer = _last_answer(ctx)
        if answer is None:
            ctx.ui.notify("There is no answer yet.", "warning")
            return
        pi.set_label(answer, args or "bookmark")
        ctx.ui.notify(f"Bookmarked as {args or 'bookmark'!r}.")

    @pi.register_command("unbookmark", description="Take the last bookmark away")
    def unbookmark(args: str, ctx: PiContext) -> None:
        for entry in reversed(ctx.session.branch()):
            label = ctx.session.label(entry.id)
            if label is not None:
                pi.set_label(entry.id, None)
                ctx.ui.notify(f"Took {label!r} away.")
                return
        ctx.ui.notify("There is no bookmark on this branch.", "warning")


def _last_answer(ctx: PiContext) -> str | None:
    for entry in reversed(ctx.session.branch()):
        if isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage):
            return entry.id
    return None
