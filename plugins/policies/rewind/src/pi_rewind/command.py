"""``/rewind``: lists prompts, previews the changes, and restores."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_hookspecs import CustomMessageEntry, UserError
from pi_rewind.places import checkpoints_of, why_none
from pi_rewind.points import (
    Points,
    counted,
    described,
    not_covered,
    refuse_own_changes,
    restore_files,
    rows_of,
    undo_files,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import PiContext
    from pi_rewind.checkpoints import Checkpoints
    from pi_rewind.points import Point

__all__ = ["Rewound", "rewind"]

_WHAT = ("both", "files", "conversation")
_CHOICES = {"Files and conversation": "both", "Files": "files", "Conversation": "conversation"}
_USAGE = "Use /rewind [ENTRY] [files|conversation|both] [--force], or /rewind undo [--force]."


@frozen
class Rewound:
    """What the command did to the files.

    Attributes:
        entry: The data for the session's entry.
        store: The folder of the store, whose journal waits for the entry.
    """

    entry: dict[str, Any]
    store: Path


async def rewind(args: str, ctx: PiContext, mark: Callable[[], object] = bool) -> Rewound | None:
    """Run the command; return None if no file was restored.

    Args:
        args: The command's arguments.
        ctx: The context.
        mark: Appends an entry of the plugin, to which the conversation can return exactly.

    Raises:
        UserError: The arguments are wrong, or the requested point does not exist.
        PiError: The files cannot be restored; none was changed.
    """
    words = args.split()
    force = "--force" in words
    words = [each for each in words if each != "--force"]
    reason = why_none(ctx.settings, Path(ctx.cwd))
    if reason is not None:
        raise UserError(reason)
    checkpoints = await asyncio.to_thread(checkpoints_of, ctx.settings, Path(ctx.cwd), ctx.session.id)
    points = Points.of(ctx.session.entries(), ctx.session.branch())
    if words == ["undo"]:
        return Rewound(await _undo(points, checkpoints, ctx, force=force), checkpoints.git.store)
    what = next((each for each in words if each in _WHAT), None)
    names = [each for each in words if each not in _WHAT]
    if len(names) > 1:
        raise UserError(_USAGE)
    point = points.find(names[0]) if names else await _chosen(points, checkpoints, ctx)
    if point is not None and what is None:
        what = "both" if names else await _chosen_what(ctx)
    if point is None or what is None:
        return None
    entry = await _go(point, what, points, checkpoints, ctx, mark=mark, force=force)
    return Rewound(entry, checkpoints.git.store) if entry is not None else None


async def _chosen(points: Points, checkpoints: Checkpoints, ctx: PiContext) -> Point | None:
    if not points.points:
        raise UserError("No prompt of this conversation has a checkpoint yet.")
    lines = await asyncio.to_thread(rows_of, points, checkpoints, datetime.now(UTC))
    rows = dict(reversed([*zip(lines, points.points, strict=True)]))
    chosen = await ctx.ui.select("Rewind to before which prompt?", [*rows])
    return rows.get(chosen) if chosen is not None else None


async def _chosen_what(ctx: PiContext) -> str | None:
    chosen = await ctx.ui.select("What should be restored?", [*_CHOICES])
    return _CHOICES.get(chosen) if chosen is not None else None


async def _go(
    point: Point,
    what: str,
    points: Points,
    checkpoints: Checkpoints,
    ctx: PiContext,
    *,
    mark: Callable[[], object],
    force: bool,
) -> dict[str, Any] | None:
    data: dict[str, Any] = {"kind": "restored", "to": point.entry}
    notice, missing, is_filled = None, [], False
    if what != "conversation":
        now = None
        if ctx.has_ui:
            preview, now = await asyncio.to_thread(_preview, checkpoints, None if force else points.last, point)
            if preview:
                now = None  # files may be changed while the user reads
                if not await ctx.ui.confirm("Restore these files?", preview):
                    return None
        done = await asyncio.to_thread(restore_files, checkpoints, points, point, force=force, now=now)
        data |= {"tree": done.tree, "undo": done.before}
        missing = await asyncio.to_thread(not_covered, checkpoints, point, done.kept)
        notice = f"Restored {counted(done.changes)}." if done.changes else "No file had changed."
    if what != "files":
        if isinstance(ctx.session.branch()[-1], CustomMessageEntry):
            mark()  # undo cannot return to a message itself: that would take it back for editing
        leaf = ctx.session.leaf_id
        moved = await ctx.navigate_tree(point.entry)
        data["leaf"] = None if moved.cancelled else leaf
        if moved.editor_text and ctx.has_ui:
            ctx.ui.set_editor_text(moved.editor_text)
            is_filled = True
    if notice is not None:  # after the move, which shows the conversation anew
        how = "The prompt is in the editor; clear it first to undo the rewind with /rewind undo."
        undo = how if is_filled else "/rewind undo undoes the rewind."
        ctx.ui.notify(" ".join((notice, undo, *missing)), "info")
    return data if "undo" in data else None


def _preview(checkpoints: Checkpoints, last: str | None, point: Point) -> tuple[str, str | None]:
    """Return what would change, and the tree of the current files; raises before the user is asked.

    Raises:
        UserError: The user has changed files since the last tree.
    """
    from pi_rewind.restore import plan

    if not checkpoints.has(point.tree):
        return "", None
    now = checkpoints.make(covering=point.tree)
    if last is not None:
        refuse_own_changes(checkpoints, last, point.tree, now.tree)
    planned = plan(checkpoints, now.tree, point.tree)
    if not planned.changes:
        return "", now.tree
    notes = not_covered(checkpoints, point, planned.kept, now.left_out)
    return "\n".join((described(planned.changes), *notes)), now.tree


async def _undo(points: Points, checkpoints: Checkpoints, ctx: PiContext, *, force: bool) -> dict[str, Any]:
    done = await asyncio.to_thread(undo_files, checkpoints, points, force=force)
    leaf = (points.restored or {}).get("leaf")
    if isinstance(leaf, str):
        await ctx.navigate_tree(leaf)
    files = f"Restored {counted(done.changes)}" if done.changes else "Back"
    ctx.ui.notify(f"{files} to before the rewind.", "info")
    return {"kind": "restored", "tree": done.tree, "undo": done.before, "undid": True}
