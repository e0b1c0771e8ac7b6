"""``pi rewind SESSION``: lists the checkpoints of a stored session, and goes back to one."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pi_hookspecs import UserError
from pi_rewind.places import checkpoints_of, why_none
from pi_rewind.points import (
    ENTRY,
    Points,
    described,
    not_covered,
    readable,
    restore_files,
    rows_of,
    undo_files,
)

if TYPE_CHECKING:
    from pi_core import PluginHost, SessionManager
    from pi_rewind.checkpoints import Checkpoints
    from pi_rewind.points import Point
    from pi_rewind.restore import Restored

__all__ = ["run_subcommand"]


def run_subcommand(arguments: list[str], host: PluginHost) -> int:
    """Run ``pi rewind``; return the exit code.

    Raises:
        PiError: There is no such session or checkpoint, or the files cannot be restored.
        click.UsageError: The arguments are wrong.
    """
    return int(_command(host).main(arguments, prog_name="pi rewind", standalone_mode=False) or 0)


def _command(host: PluginHost) -> click.Command:
    def run(**given: Any) -> int:
        return _run(host, **given)

    return click.Command(
        "rewind",
        callback=run,
        help="Restore the files and the conversation of a session to before a prompt.",
        params=[
            click.Argument(["session"]),
            click.Option(["--list", "listed"], is_flag=True, help="List the prompts that have a checkpoint"),
            click.Option(["--to", "entry"], metavar="ENTRY", help="The prompt to go back to, by its id"),
            click.Option(["--undo"], is_flag=True, help="Undo the last rewind"),
            click.Option(["--files"], is_flag=True, help="Restore only the files"),
            click.Option(["--conversation"], is_flag=True, help="Restore only the conversation"),
            click.Option(["--force"], is_flag=True, help="Overwrite changes that pi did not make"),
            click.Option(["-y", "--yes"], is_flag=True, help="Do not ask"),
        ],
    )


def _run(host: PluginHost, session: str, *, listed: bool, entry: str | None, undo: bool, **how: bool) -> int:
    if listed + undo + (entry is not None) != 1:
        raise click.UsageError("Give one of --list, --to ENTRY and --undo.")
    from pi_core import SessionManager, find_session

    path = session if Path(session).exists() else find_session(session, host=host).path
    manager = SessionManager.open(path, host=host)
    try:
        points = Points.of(manager.get_entries(), manager.get_branch())
        if listed and not points.points:
            sys.stdout.write("No prompt of this session has a checkpoint.\n")
            return 1
        reason = why_none(host.settings, Path(manager.cwd))
        if reason is not None and not listed:
            raise UserError(reason)
        checkpoints = checkpoints_of(host.settings, Path(manager.cwd), manager.get_session_id())
        if undo and _reverse(checkpoints):
            return 0
        points = _recovered(points, checkpoints, manager)
        if listed:
            return _list(points, checkpoints)
        if undo:
            return _undo(points, checkpoints, manager, **how)
        return _go(points.find(entry or ""), points, checkpoints, manager, **how)
    finally:
        manager.close()


def _reverse(checkpoints: Checkpoints) -> bool:
    """Reverse a rewind of the session that was killed; return whether there was one."""
    from pi_rewind.journal import Journal
    from pi_rewind.restore import reverse

    pending = Journal(checkpoints.git.store).pending()
    if pending is None or pending.session != checkpoints.session:
        return False
    done = reverse(checkpoints)
    if done is not None:
        sys.stdout.write(f"A rewind was interrupted. It has now been undone.\n{_described(done)}\n")
    return done is not None


def _recovered(points: Points, checkpoints: Checkpoints, manager: SessionManager) -> Points:
    """Finish a rewind that was killed, and say so; return what the session then records."""
    from pi_rewind.journal import Journal
    from pi_rewind.recovery import recover

    found = recover(checkpoints, points.restored)
    if found.notice is not None:
        sys.stdout.write(f"{found.notice}\n")
    if found.entry is None:
        return points
    manager.append_custom_entry(ENTRY, found.entry)
    Journal(checkpoints.git.store).recorded(checkpoints.session)
    return Points.of(manager.get_entries(), manager.get_branch())


def _list(points: Points, checkpoints: Checkpoints) -> int:
    for row in rows_of(points, checkpoints, datetime.now(UTC)):
        sys.stdout.write(f"{row}\n")
    return 0


def _go(
    point: Point,
    points: Points,
    checkpoints: Checkpoints,
    manager: SessionManager,
    *,
    files: bool,
    conversation: bool,
    force: bool,
    yes: bool,
) -> int:
    both = files == conversation
    data: dict[str, Any] = {"kind": "restored", "to": point.entry}
    if files or both:
        now = _preview(point, checkpoints)
        if not yes and sys.stdin.isatty():
            now = None  # files may be changed while the user reads
            if not click.confirm("Restore these files?", default=False):
                return 1
        done = restore_files(checkpoints, points, point, force=force, now=now)
        data |= {"tree": done.tree, "undo": done.before}
    if conversation or both:
        data["leaf"] = manager.leaf_id
        prompt = manager.get_entry(point.entry)
        parent = prompt.parent_id if prompt is not None else None
        if parent is None:
            manager.reset_leaf()
        else:
            manager.branch(parent)
    _append(manager, checkpoints, data)
    return 0


def _preview(point: Point, checkpoints: Checkpoints) -> str | None:
    """Print what would change; return the tree of the current files, None if the point's tree is not stored."""
    from pi_rewind.restore import plan

    if not checkpoints.has(point.tree):
        return None
    now = checkpoints.make(covering=point.tree)
    planned = plan(checkpoints, now.tree, point.tree)
    lines = not_covered(checkpoints, point, planned.kept, now.left_out)
    sys.stdout.write("\n".join((described(planned.changes) or "No file differs.", *lines, "")))
    return now.tree


def _undo(points: Points, checkpoints: Checkpoints, manager: SessionManager, *, force: bool, **_: bool) -> int:
    done = undo_files(checkpoints, points, force=force)
    sys.stdout.write(f"{_described(done)}\n")
    leaf = (points.restored or {}).get("leaf")
    if isinstance(leaf, str):
        manager.branch(leaf)
    _append(manager, checkpoints, {"kind": "restored", "tree": done.tree, "undo": done.before, "undid": True})
    return 0


def _described(done: Restored) -> str:
    kept = "".join(f"\nLeft as it is: {readable(path)} ({reason})." for path, reason in sorted(done.kept.items()))
    return f"{described(done.changes) or 'No file differs.'}{kept}"


def _append(manager: SessionManager, checkpoints: Checkpoints, data: dict[str, Any]) -> None:
    from pi_rewind.journal import Journal

    manager.append_custom_entry(ENTRY, data)
    Journal(checkpoints.git.store).recorded(checkpoints.session)
