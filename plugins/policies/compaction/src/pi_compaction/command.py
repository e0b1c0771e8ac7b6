"""``/compact``: manual compaction, and its undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Command, CompactionEntry, PiError, UserError

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["compact_command", "undo_compaction"]


def compact_command() -> Command:
    """Return the command: ``/compact [instructions]`` compacts, ``/compact undo`` undoes the last compaction."""
    return Command(
        name="compact",
        handler=_run,
        description="Summarize the conversation to free context: /compact [FOCUS], /compact undo",
        complete=lambda text: ["undo"] if "undo".startswith(text) else [],
        touches=(),
    )


async def undo_compaction(ctx: PiContext) -> int:
    """Move the leaf to before the last compaction; return how many entries are abandoned.

    The compaction and the entries after it stay in the session's tree.

    Raises:
        UserError: The branch has no compaction, or no entry before it.
        AgentBusy: A prompt is being answered.
    """
    for later, entry in enumerate(reversed(ctx.session.branch())):
        if isinstance(entry, CompactionEntry) and entry.parent_id is not None:
            await ctx.navigate_tree(entry.parent_id)
            return later
    raise UserError("There is no compaction to undo on this branch.")


async def _run(args: str, ctx: PiContext) -> None:
    if args != "undo":
        try:
            await ctx.compact(args or None)
        except PiError:  # compaction_end was emitted to subscribers
            return
    else:
        try:
            later = await undo_compaction(ctx)
        except PiError as error:
            ctx.ui.notify(str(error), "error")
        else:
            behind = f" {later} later entries stay in the tree." if later else ""
            ctx.ui.notify(f"The conversation continues as it was before the compaction.{behind}")
