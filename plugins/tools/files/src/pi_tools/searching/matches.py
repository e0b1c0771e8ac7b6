"""Converts ripgrep's JSON messages to the output of ``grep``: one block per match, with its context."""

from __future__ import annotations

import base64
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_tools.text import show_name
from pi_tools.truncate import truncate_line

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Matches"]


_MOST_KEPT = 1 << 26
"""Characters after which reading stops regardless of the limit: 50 KB of them are shown."""
_MOST_BUILT = 1 << 23
"""The same for the output: with much context every match repeats the lines of the others."""


_TYPE = b'{"type":"'


class _Match(NamedTuple):
    line: int
    """Its number."""
    height: int
    """Lines that it spans."""


class _File:
    """The lines of one file around its matches."""

    def __init__(self, path: dict[str, str], name: str) -> None:
        self.path = path
        self.name = name
        self.lines: dict[int, str] = {}
        self.matches: list[_Match] = []
        self.last = 0
        self.ended = False
        """Whether the last known line has a newline."""


def _type_of(message: bytes) -> str:
    """Return the type of a message: ripgrep begins each with it, other writers of JSON may put blanks in between."""
    if message.startswith(_TYPE):
        return message[len(_TYPE) : message.find(b'"', len(_TYPE))].decode()
    return str(json.loads(message)["type"]) if message.strip() else ""


class Matches:
    """Collects matches up to a limit.

    Args:
        root: The directory that paths are shown relative to; None shows base names.
        limit: Maximum number of matches.
        context: Lines before and after each.
    """

    def __init__(self, root: str | None, limit: int, context: int) -> None:
        self.limit = limit
        self.count = 0
        self.cut = False
        """Whether a line was shortened."""
        self._root = root
        self._context = context
        self._file: _File | None = None
        self._blocks: list[tuple[list[str], list[str]]] = []
        self._full_at: int | None = None
        self._kept = 0
        self._built = 0

    def take(self, messages: Iterable[bytes]) -> bool:
        """Take complete messages, one per line; False when no more are needed."""
        for message in messages:
            kind = _type_of(message)
            if kind in {"match", "context"}:
                if not self._add(json.loads(message)["data"], matched=kind == "match"):
                    return False
            elif kind == "end":
                self.end()
                if self.count >= self.limit:
                    return False
        return self._kept < _MOST_KEPT and self._built < _MOST_BUILT

    def _add(self, data: dict[str, Any], *, matched: bool) -> bool:
        number = data["line_number"]
        if self._file is not None and self._file.path != data["path"]:  # the operations of a plugin may leave "end" out
            self.end()
            if self._full_at is not None:
                return False
        if self._file is None:
            self._file = _File(data["path"], self._name(data["path"]))
        file = self._file
        if self._full_at is not None and number > self._full_at:
            return False  # the context of the last match is complete
        text = _text(data["lines"])
        self._kept += len(text)
        lines = text.removesuffix("\n").split("\n")
        for index, line in enumerate(lines):
            file.lines[number + index] = line
        file.last = number + len(lines) - 1
        file.ended = text.endswith("\n")
        if matched and self.count < self.limit:
            self.count += 1
            file.matches.append(_Match(number, len(lines)))
            if self.count >= self.limit:
                self._full_at = file.last + self._context
                return self._context > 0
        return True

    def end(self) -> None:
        """Finish the current file."""
        file, self._file = self._file, None
        if file is None:
            return
        if file.ended and self._context:  # the empty line after the final newline counts as one
            file.lines.setdefault(file.last + 1, "")
        lines: list[str] = []
        for match in file.matches:
            if self._built >= _MOST_BUILT:
                break
            lines += self._block(file, match)
        if lines:
            self._blocks.append((file.name.split(os.sep), lines))

    def _block(self, file: _File, match: _Match) -> list[str]:
        block = []
        end = min(match.line + match.height + self._context, file.last + 2)
        name = show_name(file.name.replace(os.sep, "/"))
        for number in range(max(match.line - self._context, 1), end):
            line = file.lines.get(number)
            if line is None:
                continue
            shown, cut = truncate_line(line.replace("\r", ""))
            self.cut = self.cut or cut
            matched = match.line <= number < match.line + match.height
            block.append(f"{name}:{number}: {shown}" if matched else f"{name}-{number}- {shown}")
            self._built += len(block[-1])
        return block

    def lines(self) -> list[str]:
        """Return all lines, sorted by path: ripgrep reports files as its threads finish them."""
        return [line for _, lines in sorted(self._blocks, key=lambda block: block[0]) for line in lines]

    def _name(self, path: dict[str, str]) -> str:
        name = _name_of(path)
        if self._root is None:
            return os.path.basename(name)
        return os.path.relpath(name, self._root)


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")


def _name_of(value: dict[str, str]) -> str:
    return value["text"] if "text" in value else os.fsdecode(base64.b64decode(value["bytes"]))
