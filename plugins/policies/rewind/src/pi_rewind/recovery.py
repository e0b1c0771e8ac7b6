"""Recovery after a rewind that was killed: finishes the restore, and adds the missing entry to the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_rewind.journal import Journal
from pi_rewind.points import counted
from pi_rewind.restore import finish

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_rewind.checkpoints import Checkpoints

__all__ = ["Recovery", "recover"]


@frozen
class Recovery:
    """What was recovered.

    Attributes:
        notice: What the user is to know; None if nothing was interrupted.
        entry: The data of the entry that the session lacks; None if it lacks none.
    """

    notice: str | None = None
    entry: dict[str, Any] | None = None


def recover(checkpoints: Checkpoints, restored: Mapping[str, Any] | None) -> Recovery:
    """Finish a rewind of the work tree that was killed. Blocks.

    The caller adds the entry to the session, and then calls ``Journal.recorded``.

    Args:
        checkpoints: The work tree's checkpoints.
        restored: The data of the last entry of a restore in the session.

    Raises:
        GitFailed: git failed.
        NotRestored: A file cannot be written.
    """
    done = finish(checkpoints)
    notice = None
    if done is not None:
        undo = "/rewind undo"
        if done.session != checkpoints.session:
            undo = f"pi rewind {done.session} --undo" if done.session else ""
        notice = f"A rewind was interrupted. It has now been completed: {counted(done.changes)} restored."
        notice = f"{notice} {undo} undoes it." if undo else notice
    record = Journal(checkpoints.git.store).unrecorded(checkpoints.session)
    if record is None:
        return Recovery(notice)
    entry: dict[str, Any] = {"kind": "restored", "tree": record.tree, "undo": record.before}
    if record.undone:
        entry["undid"] = True
    else:
        entry["to"] = record.entry
    is_known = restored is not None and all(restored.get(key) == entry[key] for key in ("tree", "undo"))
    return Recovery(notice, None if is_known else entry)
