"""The files that determine which programs git runs in a repository, and which of their contents are harmless."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "GIT_FILES",
    "adds_nothing",
    "gitlinks",
    "is_git_file",
    "is_plain_config",
    "is_repository",
    "plain_part",
    "target_of",
]

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


_GITLINK = b"\x00\x00\xe0\x00"
"""The mode of a repository in an index, in which git looks as soon as it shows the status of the outer one."""
_BEHIND = (36, 48)
"""Where an entry's flags are, behind its mode: after owner, size, and an object's name of SHA-1 or of SHA-256."""
_EXTENDED, _LENGTH = 0x4000, 0x0FFF
_COMPRESSED = 4


def gitlinks(index: bytes) -> list[str] | None:
    """Return the paths of the repositories that an index names; it may contain paths that are none.

    Returns:
        None for an index with compressed paths.
    """
    if int.from_bytes(index[4:8], "big") >= _COMPRESSED:
        return None
    found, place = [], index.find(_GITLINK)
    while place >= 0:
        for behind in _BEHIND:
            flags = int.from_bytes(index[place + behind : place + behind + 2], "big")
            start = place + behind + (4 if flags & _EXTENDED else 2)
            name = index[start : index.find(b"\0", start)]
            if name and min(len(name), _LENGTH) == flags & _LENGTH:
                found.append(os.fsdecode(name))
        place = index.find(_GITLINK, place + 1)
    return found
