"""The git branch of a folder, read from git's files: a program would cost more than all else that a front end reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["branch_of"]

_LONGEST_HEAD = 4096
"""Bytes of a ``HEAD`` that are read; a real one is a line."""


def branch_of(folder: Path) -> str | None:
    """Return the git branch of a folder, or the beginning of a commit's id; None outside of a repository."""
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
