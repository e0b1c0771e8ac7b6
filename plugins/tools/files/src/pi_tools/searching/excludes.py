"""The user's own ignore file: which one git uses in a folder, and its lines as ripgrep has to be given them.

ripgrep looks for ``core.excludesFile`` in the user's configuration alone, and reads its lines as relative to the folder
searched. git reads the configuration of the system and of the repository too, and included files, and its lines are
relative to the repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_git_kit import Prepare

__all__ = ["excludes_below", "excludes_file", "repository_above"]


def repository_above(folder: str) -> str | None:
    """Return the nearest folder, at or above this one, in which a repository begins."""
    while True:
        if any(os.path.lexists(os.path.join(folder, name)) for name in (".git", ".jj")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def excludes_file(folder: str, prepare: Prepare | None = None) -> str:
    """Return the path of the user's ignore file, which need not exist; "" if git cannot be asked.

    Args:
        folder: Absolute path of a folder in the repository.
        prepare: Changes how git is started.
    """
    import pi_git_kit

    try:
        return os.fspath(pi_git_kit.excludes_file(Path(folder), prepare=prepare))
    except PiError:  # there is no git, or it must not be started here
        return ""


def excludes_below(folder: str, prepare: Prepare | None = None) -> str | None:
    """Return the user's ignore file as lines for a search of a folder, in which they are relative to it.

    None if ripgrep knows better: without git, and outside a repository, where they hold only for repositories below.

    Args:
        folder: Absolute path, without links.
        prepare: As in ``excludes_file``.
    """
    top = repository_above(folder)
    if top is None:
        return None
    file = excludes_file(folder, prepare)
    if not file:
        return None
    try:
        from pi_tools.local_files import read_regular

        text = os.fsdecode(read_regular(file)).removeprefix("\ufeff")
    except (OSError, ValueError, PiError):
        return ""
    steps = [] if folder == top else os.path.relpath(folder, top).split(os.sep)
    lines = (_relative(line, steps) for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line)


def _relative(line: str, steps: list[str]) -> str:
    """Return a line relative to a folder some steps further down; "" if it concerns nothing in there."""
    negation = line[: line.startswith("!")]
    pattern = line[len(negation) :]
    if not steps or line.startswith("#") or "/" not in pattern.rstrip().rstrip("/"):
        return line
    parts = pattern.removeprefix("/").split("/")
    for step in steps:
        if parts[0] == "**":
            return negation + "/".join(parts)
        if len(parts) < 2 or not _same(parts[0], step):  # noqa: PLR2004 - nothing would be left
            return ""
        del parts[0]
    return f"{negation}/{'/'.join(parts)}"


def _same(part: str, name: str) -> bool:
    from pi_tools.searching.globs import ignore_regex

    try:
        return re.fullmatch(ignore_regex(part), name, re.DOTALL) is not None
    except (ValueError, re.error):
        return False
