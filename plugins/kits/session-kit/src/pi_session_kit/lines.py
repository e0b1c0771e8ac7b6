"""Scans a session file: its header, and the offset, id, parent and type of every entry.

A line that begins as pi writes them is parsed on access, which makes opening a long session fast and keeps its bytes
unchanged; any other line is parsed at once, and so is the last, where a write may have been cut off.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from typing import Any
from zlib import crc32

import orjson
from attrs import Factory, define, field, frozen

from pi_core import paused_gc

__all__ = ["VERSION", "Damage", "Lines", "NoSession", "first_value", "parse_line", "read_lines"]

VERSION = 3
"""The version of session files that is written."""

_USUAL = re.compile(
    rb'\{"type":"([a-z_]+)","id":"([^"\\\x00-\x1f\x7f-\xff]+)","parentId":(?:null|"([^"\\\x00-\x1f\x7f-\xff]+)")[,}]'
)
_BOM = b"\xef\xbb\xbf"
_SPACE = b" \t\r\n\0"
"""Bytes that are stripped from a line; a file system that lost power leaves NULs."""

_SYSTEM = b'"message":{"role":"system"'
"""In a line as pi writes it, a message of this role; in text the quotation marks would have backslashes."""

_BRACE = ord("}")
_NONSENSE = 1_000_000
"""Upper limit of a valid version, which also rejects NaN."""


class NoSession(ValueError):
    """Not a session: the first value is not a header with an id."""


@frozen
class Damage:
    """An invalid line: its offset, and the reason."""

    start: int
    reason: str


@define(eq=False)
class Lines:
    """A scanned session file.

    Attributes:
        data: The whole file.
        header: The parsed header.
        header_start: The offset of the header's line in bytes.
        starts: The offset of each entry's line.
        ids: The entries' ids; a missing id is derived from the bytes of its line, so it is the same at every reading.
        parent_ids: The ids of the entries' parents.
        types: The entries' types; ``branch``, which older documents use, is read as ``label``.
        damage: The invalid lines before the last.
        torn: Offset of an incomplete last line; None if there is none.
        completed: Numbers of the entries whose id or parent was derived, because their lines do not have it.
        system: Numbers of the messages that may be of role ``system``.
    """

    data: bytes
    header: dict[str, Any]
    header_start: int
    starts: array[int] = Factory(lambda: array("Q"))
    ids: list[str] = Factory(list)
    parent_ids: list[str | None] = Factory(list)
    types: list[str] = Factory(list)
    damage: list[Damage] = Factory(list)
    torn: int | None = None
    completed: set[int] = Factory(set)
    system: set[int] = Factory(set)
    _taken: set[str] = field(factory=set, init=False)
    _counted: int = field(default=0, init=False)
    _made: dict[int, int] = field(factory=dict, init=False)
    _newlines: array[int] = field(factory=lambda: array("Q"), init=False)

    @property
    def version(self) -> int:
        """The header's version; 1 if missing, the current one if invalid."""
        version = self.header.get("version", 1)
        return int(version) if isinstance(version, int | float) and abs(version) < _NONSENSE else VERSION

    def raw(self, start: int) -> bytes:
        """Return the line that begins there, without its newline and padding."""
        end = self.data.find(b"\n", start)
        return self.data[start : end if end >= 0 else None].strip(_SPACE)

    def make_id(self, line: bytes) -> str:
        """Return the derived id of a line without one. It is stable: later entries refer to it as their parent."""
        self._taken.update(self.ids[self._counted :])
        self._counted = len(self.ids)
        first = crc32(line)
        number = self._made.get(first, first)
        while f"{number:08x}" in self._taken:
            number = crc32(line, number)
        self._made[first] = number  # for the next line with these bytes
        return f"{number:08x}"

    def number_of(self, start: int) -> int:
        """Return the number, from 1, of the line that begins there."""
        if not self._newlines:
            place = self.data.find(b"\n")
            while place >= 0:
                self._newlines.append(place)
                place = self.data.find(b"\n", place + 1)
        return bisect_left(self._newlines, start) + 1


def parse_line(line: bytes) -> Any:
    """Return the value of a line of JSON, also one that only JavaScript accepts.

    Raises:
        ValueError: It is not JSON; the message says why.
    """
    try:
        return orjson.loads(line)
    except ValueError:  # or JSON that only orjson rejects: lone surrogates, numbers over 64 bits, invalid UTF-8
        pass
    text = line.decode("utf-8", "replace").strip(_SPACE.decode())
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")  # some of its messages end with the position
        raise ValueError(f"{what} at character {error.pos + 1} of {len(text)}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def first_value(data: bytes) -> tuple[int, int, Any]:
    """Return start and end of the first line that is JSON, and its value, skipping invalid lines.

    Raises:
        NoSession: No line is JSON.
    """
    place = len(_BOM) if data.startswith(_BOM) else 0
    while place < len(data):
        end = _end_of_line(data, place)
        try:
            return place, end, parse_line(data[place:end])
        except ValueError:
            place = end + 1
    raise NoSession("no line of it is JSON" if data.strip(_SPACE) else "it is empty")


def read_lines(data: bytes) -> Lines:
    """Scan a file.

    Raises:
        NoSession: It does not begin with the header of a session.
    """
    start, end, header = first_value(data)
    if not isinstance(header, dict) or header.get("type") != "session" or not isinstance(header.get("id"), str):
        raise NoSession("its first line is not a session header")
    lines = Lines(data, header, start)
    _note_damage_before(lines)
    with paused_gc():
        _read_entries(lines, end + 1)
    _note_system_messages(lines)
    return lines


def _end_of_line(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return end if end >= 0 else len(data)


def _note_damage_before(lines: Lines) -> None:
    place = len(_BOM) if lines.data.startswith(_BOM) else 0
    while place < lines.header_start:
        end = _end_of_line(lines.data, place)
        if lines.data[place:end].strip(_SPACE):
            lines.damage.append(Damage(place, "it is before the header, and is not JSON"))
        place = end + 1


def _read_entries(lines: Lines, place: int) -> None:
    data, starts, ids = lines.data, lines.starts, lines.ids
    find, usual, size = data.find, _USUAL.match, len(data)
    last = _start_of_last(data)
    names = {b"branch": "label"}
    previous = b""
    while place < size:
        end = find(b"\n", place)
        found = usual(data, place) if place < last and data[end - 1] == _BRACE else None
        if found is None:
            if end < 0:
                end = size
            _read_unusual(lines, place, end)
            previous = b""
        else:
            kind, entry_id, parent_id = found.groups()
            parent = None if parent_id is None else ids[-1] if parent_id == previous else parent_id.decode("ascii")
            lines.parent_ids.append(parent)
            starts.append(place)
            ids.append(entry_id.decode("ascii"))
            lines.types.append(names.get(kind) or names.setdefault(kind, kind.decode("ascii")))
            previous = entry_id
        place = end + 1


def _note_system_messages(lines: Lines) -> None:
    """Find them with a search instead of line by line: they are few. Backwards takes half the time."""
    place = lines.data.rfind(_SYSTEM)
    while place >= 0:
        lines.system.add(bisect_right(lines.starts, place) - 1)
        place = lines.data.rfind(_SYSTEM, 0, place)


def _start_of_last(data: bytes) -> int:
    """Return the offset of the last non-blank line."""
    end = len(data)
    while end and data[end - 1] in _SPACE:
        end -= 1
    return data.rfind(b"\n", 0, end) + 1


def _read_unusual(lines: Lines, start: int, end: int) -> None:
    """Parse a line in an unusual format, or that may be incomplete."""
    line = lines.data[start:end].strip(_SPACE)
    if not line:
        return
    try:
        value = parse_line(line)
    except ValueError as error:
        if end == len(lines.data):
            lines.torn = start
        else:
            lines.damage.append(Damage(start, f"it is not JSON: {error}"))
        return
    reason = _why_no_entry(value)
    if reason is not None:
        lines.damage.append(Damage(start, reason))
        return
    entry_id, parent_id = value.get("id"), value.get("parentId")
    named = isinstance(entry_id, str) and entry_id
    chained = "parentId" not in value and not (named and lines.version > 1)
    if chained:
        parent_id = lines.ids[-1] if lines.ids else None
    if chained or not named:
        lines.completed.add(len(lines.ids))
    message = value.get("message")
    if isinstance(message, dict) and message.get("role") == "system":
        lines.system.add(len(lines.ids))
    lines.parent_ids.append(parent_id if isinstance(parent_id, str) else None)
    lines.starts.append(start)
    lines.ids.append(entry_id if named else lines.make_id(line))
    kind = value["type"]
    lines.types.append("label" if kind == "branch" else kind)


def _why_no_entry(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "it is JSON, but not an object"
    if not isinstance(value.get("type"), str):
        return "it has no type"
    return "it is a second header" if value["type"] == "session" else None
