"""Locates pi's git worktrees: the agent directory has a folder per repository, which has one per worktree."""

from __future__ import annotations

from pathlib import Path

__all__ = ["repository_folder", "worktree_folder"]

_NAME = "worktrees"


def worktree_folder(agent_dir: str | Path, top: Path) -> Path:
    """Return the folder for the worktrees of a repository, given the root of its working directory."""
    import hashlib

    mark = hashlib.sha256(str(top).encode(errors="surrogateescape")).hexdigest()[:8]
    return Path(agent_dir).resolve() / _NAME / f"{top.name}-{mark}"


def repository_folder(folder: Path, agent_dir: str | Path) -> Path | None:
    """Return the folder of the repository that corresponds to a folder in a worktree of pi; None for other folders.

    Worktree and repository must refer to each other, because a file ``.git`` alone can name any repository.
    """
    worktrees = Path(agent_dir).resolve() / _NAME
    if not folder.is_relative_to(worktrees):
        return None
    repository, name, *below = (*folder.relative_to(worktrees).parts, "", "")
    link = worktrees / repository / name / ".git"
    try:
        git_dir = Path(link.read_text(encoding="utf-8").removeprefix("gitdir:").strip())
        named = Path((git_dir / "gitdir").read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None
    common = git_dir.parent.parent
    return common.parent.joinpath(*below) if named == link and common.name == ".git" else None
