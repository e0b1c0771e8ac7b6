"""Converts ripgrep's JSON messages to the output of ``grep``: the lines of each file, with their context, each once."""

from __future__ import annotations

import base64
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pi_tools.text import show_name
from pi_tools.truncate import truncate_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Binary", "Matches"]


_MOST_KEPT = 1 << 26
"""Characters after which reading stops regardless of the limit: 50 KB of them are shown."""

_TYPE = b'{"type":"'


class Binary(NamedTuple):
    """A file with matches after a NUL, which are not shown.

    Attributes:
        path: As ripgrep gave it.
        name: As it is shown.
        offset: Bytes before the NUL.
    """

    path: str
    name: str
    offset: int


class _Line(NamedTuple):
    """One message of ripgrep: its first line number, its lines, where its first match begins, and its offset."""

    number: int
    texts: list[str]
    span: tuple[int, int] | None
    offset: int


class _File:
    """What ripgrep sent of one file; of one that is not wanted, nothing is kept."""

    def __init__(self, path: dict[str, str], name: str, *, wanted: bool) -> None:
        self.path = path
        self.name = name
        self.wanted = wanted
        self.lines: list[_Line] = []


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
        wanted: Whether a file counts, by its path below the root.
    """

    def __init__(self, root: str | None, limit: int, context: int, wanted: Callable[[str], bool] | None = None) -> None:
        self.limit = limit
        self.count = 0
        self.more = False
        """Whether there are more matches than the limit."""
        self.cut = False
        """Whether a line was shortened."""
        self.binary: list[Binary] = []
        self._root = root
        self._context = context
        self._wanted = wanted
        self._file: _File | None = None
        self._blocks: list[tuple[list[str], list[str]]] = []
        self._kept = 0

    def take(self, messages: Iterable[bytes]) -> bool:
        """Take complete messages, one per line; False when no more are needed."""
        for message in messages:
            kind = _type_of(message)
            if kind in {"match", "context"}:
                if self._file is None or self._file.wanted:
                    self._add(json.loads(message)["data"], matched=kind == "match")
            elif kind == "begin":
                self.end()
                self._begin(json.loads(message)["data"]["path"])
            elif kind == "end":
                self.end(json.loads(message)["data"].get("binary_offset"))
            if self.more or self._kept >= _MOST_KEPT:
                return False
        return True

    def _begin(self, path: dict[str, str]) -> _File:
        name = self._name(path)
        wanted = self._wanted is None or self._wanted(name.replace(os.sep, "/"))
        self._file = _File(path, name, wanted=wanted)
        return self._file

    def _add(self, data: dict[str, Any], *, matched: bool) -> None:
        file = self._file
        if file is None or file.path != data["path"]:  # the operations of a plugin may leave "begin" and "end" out
            self.end()
            file = self._begin(data["path"])
        if not file.wanted:
            return
        text = _text(data["lines"])
        self._kept += len(text)
        span = _span(data, text) if matched else None
        file.lines.append(_Line(data["line_number"], _lines(text), span, data.get("absolute_offset", 0)))

    def end(self, binary_offset: int | None = None) -> None:
        """Finish the current file.

        Args:
            binary_offset: Bytes before its first NUL; None if there is none. What follows is not shown.
        """
        file, self._file = self._file, None
        if file is None or not file.lines:
            return
        lines = file.lines
        if binary_offset is not None and self._root is not None:
            before = [line for line in lines if line.offset <= binary_offset]
            if any(line.span for line in lines[len(before) :]):
                self.binary.append(Binary(_name_of(file.path), file.name.replace(os.sep, "/"), binary_offset))
            lines = before
        shown = self._show(file, lines)
        if shown:
            self._blocks.append((file.name.split(os.sep), shown))

    def _show(self, file: _File, lines: list[_Line]) -> list[str]:
        """Return the lines of a file around as many matches as the limit still allows."""
        matches = [line for line in lines if line.span]
        left = self.limit - self.count
        self.more = self.more or len(matches) > left
        taken = matches[:left]
        self.count += len(taken)
        if not taken:
            return []
        numbers = {line.number for line in taken}
        last = taken[-1].number + len(taken[-1].texts) - 1 + self._context
        name = show_name(file.name.replace(os.sep, "/"))
        shown: list[str] = []
        for line in lines:
            matched = line.number in numbers and line.span is not None
            for index, text in enumerate(line.texts):
                number = line.number + index
                if number > last and not matched:
                    return shown
                start, end = (line.span or (0, 0)) if index == 0 else (0, 0)
                piece, cut = _shorten(text, start, end)
                self.cut = self.cut or cut
                shown.append(f"{name}:{number}: {piece}" if matched else f"{name}-{number}- {piece}")
        return shown

    def lines(self) -> list[str]:
        """Return all lines, sorted by path: ripgrep reports files as its threads finish them."""
        return [line for _, lines in sorted(self._blocks, key=lambda block: block[0]) for line in lines]

    def _name(self, path: dict[str, str]) -> str:
        name = _name_of(path)
        if self._root is None:
            return os.path.basename(name)
        return os.path.relpath(name, self._root) if os.path.isabs(name) else os.path.normpath(name)


_BEFORE_MATCH = 100
"""Characters in front of a match that would otherwise be cut away."""
_LATEST_START = 400


def _shorten(text: str, start: int, end: int) -> tuple[str, bool]:
    """Cut a long line; one whose match begins late, in front of the match, too. Return it, and whether it was cut."""
    shown, cut = truncate_line(text)
    if not cut or end <= len(shown) - len("... [truncated]") or start <= _LATEST_START:
        return shown, cut
    return "[truncated] ..." + truncate_line(text[start - _BEFORE_MATCH :])[0], True


def _lines(text: str) -> list[str]:
    """Split into lines; a lone CR is part of its line."""
    return [re.sub(r"\r\Z", "", line) for line in text.removesuffix("\n").split("\n")]


def _span(data: dict[str, Any], text: str) -> tuple[int, int]:
    """Return where the first match begins and ends, in characters."""
    submatches = data.get("submatches") or ()
    if not submatches:
        return 0, 0
    start, end = submatches[0]["start"], submatches[0]["end"]
    if text.isascii():
        return start, end
    raw = data["lines"]["text"].encode() if "text" in data["lines"] else base64.b64decode(data["lines"]["bytes"])
    return len(raw[:start].decode("utf-8", "replace")), len(raw[:end].decode("utf-8", "replace"))


def _text(value: dict[str, str]) -> str:
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("utf-8", "replace")


def _name_of(value: dict[str, str]) -> str:
    return value["text"] if "text" in value else os.fsdecode(base64.b64decode(value["bytes"]))
