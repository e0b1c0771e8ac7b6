"""``pi rewind SESSION``: lists the checkpoints of a stored session, and goes back to one."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pi_hookspecs import UserError
from pi_rewind._places import checkpoints_of, why_none
from pi_rewind._points import ENTRY, Points, described, missing_ignored, restore_files, rows_of, undo_files

if TYPE_CHECKING:
    from pi_core import PluginHost, SessionManager

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
    from pi_core import SessionManager
    from pi_core.session.lookup import find_session

    path = session if Path(session).exists() else find_session(session, host=host).path
    manager = SessionManager.open(path, host=host)
    try:
        points = Points.of(manager.get_entries(), manager.get_branch())
        if listed:
            return _list(points, manager, host)
        reason = why_none(host.settings, Path(manager.cwd))
        if reason is not None:
            raise UserError(reason)
        return _undo(points, manager, host, **how) if undo else _go(entry or "", points, manager, host, **how)
    finally:
        manager.close()


def _list(points: Points, manager: SessionManager, host: PluginHost) -> int:
    if not points.points:
        sys.stdout.write("No prompt of this session has a checkpoint.\n")
        return 1
    checkpoints = checkpoints_of(host.settings, Path(manager.cwd), manager.get_session_id())
    for row in rows_of(points, checkpoints, datetime.now(UTC)):
        sys.stdout.write(f"{row}\n")
    return 0


def _go(
    entry: str,
    points: Points,
    manager: SessionManager,
    host: PluginHost,
    *,
    files: bool,
    conversation: bool,
    force: bool,
    yes: bool,
) -> int:
    point = points.find(entry)
    both = files == conversation
    data: dict[str, Any] = {"kind": "restored", "to": point.entry}
    if files or both:
        checkpoints = checkpoints_of(host.settings, Path(manager.cwd), manager.get_session_id())
        now: str | None = checkpoints.make().tree
        preview = checkpoints.changes(str(now), point.tree) if checkpoints.has(point.tree) else []
        sys.stdout.write(f"{described(preview) or 'No file differs.'}\n")
        if not yes and sys.stdin.isatty():
            now = None  # files may be changed while the user reads
            if not click.confirm("Bring these files back?", default=False):
                return 1
        done = restore_files(checkpoints, points, point, force=force, now=now)
        if missing := missing_ignored(checkpoints, point):
            sys.stdout.write(f"{missing}\n")
        data |= {"tree": done.tree, "undo": done.before}
    if conversation or both:
        data["leaf"] = manager.leaf_id
        prompt = manager.get_entry(point.entry)
        parent = prompt.parent_id if prompt is not None else None
        if parent is None:
            manager.reset_leaf()
        else:
            manager.branch(parent)
    manager.append_custom_entry(ENTRY, data)
    return 0


def _undo(points: Points, manager: SessionManager, host: PluginHost, *, force: bool, **_: bool) -> int:
    checkpoints = checkpoints_of(host.settings, Path(manager.cwd), manager.get_session_id())
    done = undo_files(checkpoints, points, force=force)
    sys.stdout.write(f"{described(done.changes) or 'No file differs.'}\n")
    leaf = (points.restored or {}).get("leaf")
    if isinstance(leaf, str):
        manager.branch(leaf)
    manager.append_custom_entry(ENTRY, {"kind": "restored", "tree": done.tree, "undo": done.before, "undid": True})
    return 0
