"""The command lines that stand in for a missing tool. Every name and text goes through ``shlex.quote``."""

from __future__ import annotations

import posixpath
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_provider_offline._requests import SearchText, Unit


def shell_path(path: str) -> str:
    """Return a path for a command line: quoted, with ``~`` still meaning the home folder, never an option."""
    if path == "~":
        return path
    if path.startswith("~/"):
        return f"~/{quote(path[2:])}" if path[2:] else path
    return quote(f"./{path}" if path.startswith("-") else path)


class Shell:
    """Commands for POSIX shells with GNU or BSD tools."""

    BEGINNING = 40_000
    """Bytes of a file that are read for a summary: less than a tool result may hold."""

    @staticmethod
    def list(folder: str) -> str:
        """List a folder, hidden names included, folders with a slash."""
        return f"ls -Ap {shell_path(folder)}"

    @staticmethod
    def find(pattern: str, folder: str) -> str:
        """Find by name, as the tool ``find`` does: a lower-case pattern ignores case, one with a slash is for paths."""
        return f"find {shell_path(folder)} -mindepth 1 {_matching(pattern)}"

    @staticmethod
    def count_files(folder: str, pattern: str | None) -> str:
        """Print two numbers: files and folders, in a folder or, by pattern, below it."""
        # -H, because the tool ls calls a link to a folder a folder, and so does -exec test; names are counted by
        # their NUL, for they may hold line ends
        if pattern is None:
            found = f"find -H {shell_path(folder)} -mindepth 1 -maxdepth 1"
            folders = "\\( -type d -o -type l -exec test -d {} \\; \\)"
        else:
            found = f"find {shell_path(folder)} -mindepth 1 {_matching(pattern)}"
            folders = "-type d"
        counted = "-print0 | tr -dc '\\000' | wc -c"
        return f"set -o pipefail; {found} ! {folders} {counted} && {found} {folders} {counted}"

    @staticmethod
    def search(request: SearchText) -> str:
        """Search lines; that nothing was found is no error."""
        options = "-rnIH" + ("i" if request.ignore_case else "") + ("E" if request.regex else "F")
        glob = f" --include={quote(request.glob)}" if request.glob is not None else ""
        text = quote(request.text)
        return f"grep {options} --exclude-dir=.git{glob} -e {text} {shell_path(request.path)} || test $? -eq 1"

    @staticmethod
    def lines(path: str, first: int, count: int | None) -> str:
        """Print a file from a line on, to its end or some lines of it."""
        name = shell_path(path)
        if count is None:
            return f"cat {name}" if first == 1 else f"tail -n +{first} {name}"
        return f"head -n {count} {name}" if first == 1 else f"sed -n '{first},{first + count - 1}p' {name}"

    @staticmethod
    def last_lines(path: str, count: int) -> str:
        """Print the end of a file."""
        return f"tail -n {count} {shell_path(path)}"

    @classmethod
    def beginning(cls, path: str) -> str:
        """Print the beginning of a file."""
        return f"head -c {cls.BEGINNING} {shell_path(path)}"

    @staticmethod
    def count(path: str, units: tuple[Unit, ...]) -> str:
        """Print one number per unit. Unlike ``wc -l``, a last line without a line end counts."""
        name = shell_path(path)
        counters = {
            "lines": f"awk 'END {{ print NR }}' < {name}",
            "words": f"LC_ALL=C.UTF-8 wc -w < {name}",
            "characters": f"LC_ALL=C.UTF-8 wc -m < {name}",
        }
        return " && ".join(counters[unit] for unit in units)

    @staticmethod
    def write(path: str, content: str) -> str:
        """Write a file, and make its folder."""
        parent = posixpath.dirname(path)
        make = f"mkdir -p {shell_path(parent)} && " if parent.strip("/~") else ""
        return f"{make}printf %s {quote(content)} > {shell_path(path)}"


def _matching(pattern: str) -> str:
    ignoring_case = "i" if pattern == pattern.lower() else ""
    if "/" in pattern:
        test = f"-{ignoring_case}path {quote('*/' + pattern.strip('/').replace('**/', '*'))}"
    else:
        test = f"-{ignoring_case}name {quote(pattern)}"
    return f"{test} ! -path '*/.git/*'"
