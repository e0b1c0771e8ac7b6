"""The files of Claude Code next to a context file: imports of ``CLAUDE.md``, ``CLAUDE.local.md``, ``.claude/rules``."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import TYPE_CHECKING

from pi_core import imported_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LOCAL", "RULES", "claude_files"]

LOCAL = "CLAUDE.local.md"
RULES = ".claude/rules"

_MOST = 200
"""Rules, and folders in which they are looked for."""
_HEAD = 4096
"""Bytes of a rule in which its front matter is looked for."""

_PATHS = re.compile(r"---[ \t]*\r?\n(?:(?!---[ \t]*$).*\r?\n)*?(?:paths|globs)[ \t]*:", re.MULTILINE)


def claude_files(folder: str, path: str | None, may_use: Callable[[str], bool], seen: set[str]) -> Iterator[str]:
    """Yield the files that belong to a folder's context file, in the order of the prompt.

    ``CLAUDE.md`` imports files with ``@path``; other context files do not. Rules for certain paths are left out,
    because Claude Code reads them only when such a file is used.

    Args:
        folder: The folder.
        path: Its context file, if it has one that is used.
        may_use: Whether a file is used; called with each file but ``path``.
        seen: Imported files that are not yielded again, with links resolved; those that are found are added.
    """
    if path is not None and os.path.basename(path).lower() == "claude.md":
        yield from imported_files(path, may_use, seen)
    local = os.path.join(folder, LOCAL)
    if os.path.isfile(local) and may_use(local):
        yield local
        yield from imported_files(local, may_use, seen)
    for rule in _rules(os.path.join(folder, RULES)):
        if may_use(rule):
            yield rule


def _rules(folder: str) -> Iterator[str]:
    if not os.path.isdir(folder):
        return
    rules = (
        path
        for parent, _below, names in islice(_walk(folder), _MOST)
        for path in (os.path.join(parent, name) for name in sorted(names) if name.endswith(".md"))
        if os.path.isfile(path) and not _is_for_paths(path)
    )
    yield from islice(rules, _MOST)


def _walk(folder: str) -> Iterator[tuple[str, list[str], list[str]]]:
    for parent, below, names in os.walk(folder):
        below.sort()
        yield parent, below, names


def _is_for_paths(path: str) -> bool:
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    return head.startswith("---") and _PATHS.match(head) is not None
