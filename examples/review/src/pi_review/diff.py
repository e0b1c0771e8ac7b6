"""Reads a change: unified diffs, whose lines get the numbers that they have in the new file."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

from attrs import define, field

from pi_hookspecs import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FileChange", "git_diff", "parse"]

HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
ESCAPE = re.compile(r'\\([0-7]{3}|[abfnrtv"\\])')
NAMED = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


@define
class FileChange:
    """The change of one file: its text with line numbers, and the numbers of the lines that the new file has."""

    path: str
    text: str = ""
    lines: list[int] = field(factory=list)


def git_diff(revisions: str, folder: Path) -> str:
    """Return the diff of a commit, or of a range such as `main...HEAD`.

    Raises:
        UserError: git cannot make it.
    """
    options = ["--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/"]
    command = ["git", "diff", *options, "--end-of-options", revisions, "--"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)  # noqa: S603 - no shell
    except OSError as error:
        raise UserError(f"git cannot be run: {error.strerror}. Give the diff on standard input.") from error
    if done.returncode:
        raise UserError(f"git diff {revisions!r} failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="replace")


def parse(diff: str) -> list[FileChange]:
    """Return the changes of text files; those without lines, such as binary files and new names, are left out."""
    changes: list[FileChange] = []
    old, lines = "", iter(diff.split("\n"))
    for line in lines:
        if line.startswith("--- "):
            old = _path(line[4:], "a/")
        elif line.startswith("+++ "):
            new = _path(line[4:], "b/")
            changes.append(FileChange(old if new == "/dev/null" else new))
        elif (hunk := HUNK.match(line)) and changes:
            _read_hunk(changes[-1], line, lines, [int(each or 1) for each in hunk.groups()])
    return [each for each in changes if each.text]


def _read_hunk(change: FileChange, header: str, lines: Iterator[str], numbers: list[int]) -> None:
    (removed, number, added), change.text = numbers, f"{change.text}{header}\n"
    while (removed > 0 or added > 0) and (line := next(lines, None)) is not None:
        kind = line[:1] or " "  # some mail programs cut a space off
        if kind in "+ ":
            change.lines.append(number)
        change.text += f"{number if kind in '+ ' else '':>6} {line}\n"
        removed, added, number = removed - (kind in "- "), added - (kind in "+ "), number + (kind in "+ ")


def _path(text: str, prefix: str) -> str:
    name = text.partition("\t")[0].rstrip("\r")
    if name.startswith('"'):  # git quotes what is not ASCII
        name = ESCAPE.sub(lambda found: chr(NAMED.get(found[1]) or int(found[1], 8)), name[1:-1])
        name = name.encode("latin-1", "replace").decode(errors="replace")
    return name.removeprefix(prefix)
