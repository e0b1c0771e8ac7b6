"""Edits the text of MEMORY.md: sections of bullet points, changed line by line, with all other lines unchanged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MARK", "Entry", "add", "cleaned", "entries", "find", "remove"]

MARK = "<!-- outside content -->"
"""Mark of an entry that was written after content from outside the project had been read."""

_TITLE = "# Memory"
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_BULLET = re.compile(r"(\s*)[-*+]\s+(\S.*)$")
_COMMENT = re.compile(r"\s*<!--.*?-->")
_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_SECTION_LEVEL = 2


@frozen
class Entry:
    """A bullet point with the lines that belong to it.

    Attributes:
        text: Its first line, without bullet and comments.
        first: Number of that line, from 0.
        end: Number of the line after its last.
    """

    text: str
    first: int
    end: int


def cleaned(text: str) -> str:
    """Return a text as one line, without hidden characters and comment ends."""
    return " ".join(_INVISIBLE.sub(" ", text).replace("<!--", "").replace("-->", "").split())


def entries(text: str) -> list[Entry]:
    """Return the bullet points, without those in code blocks; a nested one is part of its parent."""
    lines = text.splitlines()
    found: list[Entry] = []
    open_entry: tuple[str, int, int] | None = None
    for number, line in _outside_code(lines):
        bullet = _BULLET.match(line)
        indent = len(line) - len(line.lstrip())
        if open_entry is not None and line.strip() and indent > open_entry[2]:
            continue
        if open_entry is not None and (bullet or line.strip()):
            found.append(_closed(open_entry, lines, number))
            open_entry = None
        if bullet is not None:
            open_entry = (_COMMENT.sub("", bullet[2]).strip(), number, len(bullet[1]))
    if open_entry is not None:
        found.append(_closed(open_entry, lines, len(lines)))
    return found


def find(text: str, wanted: str) -> list[Entry]:
    """Return the matching entries: the one with exactly this text, else those that contain it."""
    sought = cleaned(wanted).casefold()
    known = entries(text)
    exact = [entry for entry in known if entry.text.casefold() == sought]
    return exact[:1] or [entry for entry in known if sought and sought in entry.text.casefold()]


def add(text: str, section: str, entry: str, *, marked: bool = False) -> str:
    """Return the text with an entry at the end of a section, which is created where it is missing."""
    newline = "\r\n" if "\r\n" in text else "\n"
    line = f"- {entry} {MARK}" if marked else f"- {entry}"
    lines = text.splitlines(keepends=True)
    place = _end_of_section(lines, section)
    if place is None:
        start = text if text.strip() else _TITLE + newline
        gap = "" if start.endswith(("\n", "\r")) else newline
        return f"{start}{gap}{newline}## {section}{newline}{line}{newline}"
    if not lines[place - 1].endswith(("\n", "\r")):
        lines[place - 1] += newline
    return "".join([*lines[:place], line, newline, *lines[place:]])


def remove(text: str, entry: Entry) -> str:
    """Return the text without an entry's lines."""
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: entry.first], *lines[entry.end :]])


def _closed(open_entry: tuple[str, int, int], lines: list[str], end: int) -> Entry:
    while end > open_entry[1] + 1 and not lines[end - 1].strip():
        end -= 1
    return Entry(open_entry[0], open_entry[1], end)


def _outside_code(lines: list[str]) -> Iterator[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1] == fence else fence
        elif mark:
            fence = mark[1]
            yield number, line
        else:
            yield number, line


def _end_of_section(lines: list[str], section: str) -> int | None:
    """Return the number of the line after the last non-blank one of a section; None without the section."""
    end: int | None = None
    for number, line in _outside_code([each.rstrip("\r\n") for each in lines]):
        heading = _HEADING.match(line)
        if heading is None:
            continue
        if end is not None and len(heading[1]) <= _SECTION_LEVEL:
            return _before_blanks(lines, number)
        if end is None and len(heading[1]) == _SECTION_LEVEL and heading[2].casefold() == section.casefold():
            end = number
    return None if end is None else _before_blanks(lines, len(lines))


def _before_blanks(lines: list[str], number: int) -> int:
    while not lines[number - 1].strip():
        number -= 1
    return number
