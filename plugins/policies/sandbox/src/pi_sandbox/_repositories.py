"""What git runs in a repository: the files that decide it, and which of their contents name no program."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GIT_FILES", "adds_nothing", "is_git_file", "is_plain_config", "is_repository", "plain_part", "target_of"]

GIT_FILES = ("hooks", "config", "config.worktree", "commondir", "info/attributes")
"""Names in a git folder that git runs, or that tell it what to run."""

_PLAIN = re.compile(
    rb"\s*|\[(core|user|extensions)\]|\[(remote|branch) \"[^\"\\\]]*\"\]"
    rb"|\s*(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|objectformat"
    rb"|refstorage|name|email|fetch|remote|merge|rebase) = [^\\\"]*"
    rb"|\s*(url|pushurl) = (?!.*::)[^\\\"]*"
)
"""Lines that ``git init``, ``git clone``, ``git remote`` and ``git branch`` write; none names a program."""


def is_repository(names: set[str]) -> bool:
    """Return whether git takes a folder with these names for a repository, be it ``.git`` or a bare one."""
    return "HEAD" in names and ("objects" in names or "commondir" in names)


def is_git_file(parts: Sequence[str]) -> bool:
    """Return whether git runs a file, or learns from it what to run.

    Args:
        parts: Its path below ``.git``; nothing for ``.git`` itself.
    """
    if not parts or "hooks" in parts:
        return True
    return parts[-1] in ("config", "config.worktree", "commondir", "gitdir") or [*parts[-2:]] == ["info", "attributes"]


def is_plain_config(content: bytes) -> bool:
    """Return whether a configuration names no program."""
    return all(_PLAIN.fullmatch(line) for line in content.splitlines())


def adds_nothing(old: bytes, new: bytes) -> bool:
    """Return whether a changed configuration has nothing that could name a program but what it had before."""
    if b"\\" in old:
        return False  # a line can be the rest of the one before
    known = set(_by_section(old))
    return all(_PLAIN.fullmatch(line) or (section, line) in known for section, line in _by_section(new))


def plain_part(content: bytes) -> bytes:
    """Return the lines of a configuration that name no program."""
    return b"".join(line + b"\n" for line in content.splitlines() if _PLAIN.fullmatch(line))


def _by_section(content: bytes) -> list[tuple[bytes, bytes]]:
    found, section = [], b""
    for line in content.splitlines():
        section = line if line.lstrip().startswith(b"[") else section
        found.append((section, line))
    return found


def target_of(path: str, content: bytes, *, is_link: bool) -> str | None:
    """Return the folder that a file or link ``.git`` names; None if git would not follow it.

    Args:
        path: The path of the file or link, absolute.
        content: The content of the file, or the target of the link.
        is_link: Which of them it is.
    """
    text = os.fsdecode(content).rstrip("\n")
    if not is_link:
        if not text.startswith("gitdir: "):
            return None
        text = text.removeprefix("gitdir: ")
    return os.path.realpath(os.path.join(os.path.dirname(path), text))
