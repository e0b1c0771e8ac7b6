"""The user's approval of a project's packages, because a trusted project may change its list later.

A hash of the list and of the lock is kept in the agent directory. The first list of a trusted project counts as
approved, because it was displayed when the user decided about trust; a changed list needs a new approval.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pi_core.base.json_file import UnusableFile, parse_object, read_text
from pi_core.host.overlay import project_root

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["approve_packages", "are_packages_approved", "declared_packages", "forget_packages", "has_approved_packages"]


def declared_packages(project: Path) -> list[str]:
    """Return the sources in a project's settings without trusting the project; empty if they cannot be read."""
    found = (entry.get("source") if isinstance(entry, dict) else entry for entry in _list_of(project))
    return [each for each in found if isinstance(each, str)]


def are_packages_approved(agent_dir: Path, project: Path) -> bool:
    """Whether the current list and lock of a trusted project are approved, or are the first ones."""
    try:
        return _file(agent_dir, project).read_text(encoding="ascii").strip() == _hash_of(project)
    except (OSError, ValueError):
        return True


def approve_packages(agent_dir: Path, project: Path) -> None:
    """Store that the user approved the current list and lock."""
    file = _file(agent_dir, project)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_hash_of(project) + "\n", encoding="ascii")


def has_approved_packages(agent_dir: Path, project: Path) -> bool:
    """Whether the user has approved the current list and lock explicitly; the first list does not count."""
    return _file(agent_dir, project).is_file() and are_packages_approved(agent_dir, project)


def forget_packages(agent_dir: Path, project: Path) -> None:
    """Undo the approval: the user is asked again before packages of the list are installed.

    Raises:
        OSError: The file cannot be written.
    """
    _file(agent_dir, project).write_text("none\n", encoding="ascii")  # without a file, the list would be the first one


def _file(agent_dir: Path, project: Path) -> Path:
    return project_root(agent_dir, project).parent / "approved"


def _hash_of(project: Path) -> str:
    lock = project / ".pi" / "pylock.pi.toml"
    content = lock.read_bytes() if lock.is_file() else b""
    return sha256(json.dumps(_list_of(project), sort_keys=True).encode() + b"\0" + content).hexdigest()


def _list_of(project: Path) -> list[Any]:
    file = project / ".pi" / "settings.json"
    try:
        found = parse_object(read_text(file) or "", str(file)).get("packages")
    except UnusableFile:
        return []
    return found if isinstance(found, list) else []
