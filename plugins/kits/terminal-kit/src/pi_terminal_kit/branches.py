"""The git branch of a directory, read from git's files, because running git would be too slow for a front end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["branch_of"]

_LONGEST_HEAD = 4096
"""Maximum bytes of ``HEAD`` that are read; a valid file has one line."""


def branch_of(folder: Path) -> str | None:
    """Return the git branch of a directory, or an abbreviated commit id; None outside a repository."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        head = _read(git / "HEAD")
        if head is None and (pointer := _read(git)) is not None and pointer.startswith("gitdir:"):
            head = _read(place / pointer.removeprefix("gitdir:").strip() / "HEAD")
        if head is not None:
            return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else head[:7]
    return None


def _read(file: Path) -> str | None:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_LONGEST_HEAD).strip()
    except OSError:
        return None
