"""The entries of a file, parsed on access."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

from pi_core import dumps, entry_from_wire, message_from_wire
from pi_hookspecs.errors import PiError
from pi_hookspecs.session_store import EntryIndex
from pi_session_kit.forms import completed, is_current_message, is_old, is_old_message, modernised
from pi_session_kit.lines import parse_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.rare_entries import SessionEntry
    from pi_hookspecs.rare_messages import AgentMessage
    from pi_session_kit.lines import Lines

__all__ = ["DAMAGED", "StoredEntries"]

DAMAGED = "damaged"
"""Type of the placeholder entry for an invalid line."""

_TEXT = rb'"[^"\\\x00-\x1f\x7f-\xff]*"'
_BEFORE_MESSAGE = re.compile(
    rb'\{"type":"message","id":%b,"parentId":(?:null|%b),"timestamp":%b,"message":' % (_TEXT, _TEXT, _TEXT)
)
"""Start of a line as pi writes it, up to the message; the message is then the rest without the last brace."""

_BRACE = ord("}")


class StoredEntries:
    """Implements ``IndexedEntries`` over the lines of a file.

    Args:
        lines: The lines.
        on_damage: Called for a line that turns out to be invalid on access, with its number and the reason.
    """

    def __init__(self, lines: Lines, on_damage: Callable[[int, str], None] | None = None) -> None:
        self._lines = lines
        self._on_damage = on_damage
        self._passed_on: dict[int, int] = {}  # where the message begins; 0 if the line is not passed on
        self.index = EntryIndex(ids=lines.ids, parent_ids=lines.parent_ids, types=lines.types, system=lines.system)

    def __len__(self) -> int:
        return len(self._lines.starts)

    def __getitem__(self, number: int, /) -> SessionEntry:
        try:
            data = self.plain(number)
            try:
                return entry_from_wire(data)
            except PiError:
                return entry_from_wire(completed(data))
        except (PiError, ValueError) as error:
            return self._damaged(number, str(error))

    def message(self, number: int) -> AgentMessage | None:
        """Return the message of an entry, parsed alone; None if the whole line must be parsed."""
        place = self._place_of_message(number)
        if place is None:
            return None
        try:
            message = orjson.loads(self._lines.data[place])
            if isinstance(message, dict) and not is_old_message(message):
                return message_from_wire(message)
        except (PiError, ValueError):  # the lenient parser may accept the line
            pass
        return None

    def line(self, number: int) -> bytes | None:
        """Return the line of a message if it can be passed on as it is, without making an entry of it; else None."""
        return self.raw(number) if self._start_of_passed_on(number) else None

    def message_line(self, number: int) -> bytes | None:
        """Return the message of an entry as ``line`` would, without the rest of its line."""
        start = self._start_of_passed_on(number)
        data = self._lines.data
        return data[start : data.find(b"\n", start) - 1] if start else None

    def _start_of_passed_on(self, number: int) -> int:
        """Return where the message of an entry begins; 0 if its line is not passed on."""
        known = self._passed_on.get(number)
        if known is None:
            place = self._place_of_message(number)
            is_current = place is not None and self._is_current(place)
            known = self._passed_on[number] = place.start if place is not None and is_current else 0
        return known

    def _is_current(self, place: slice) -> bool:
        """Whether a message is in today's format."""
        try:
            return is_current_message(orjson.loads(self._lines.data[place]))
        except ValueError:
            return False

    def _place_of_message(self, number: int) -> slice | None:
        """Return where the message of an entry is, if its line is as pi writes it."""
        data = self._lines.data
        before = _BEFORE_MESSAGE.match(data, self._lines.starts[number])
        if before is None:
            return None
        end = data.find(b"\n", before.end()) - 1
        return slice(before.end(), end) if end >= 0 and data[end] == _BRACE else None

    def raw(self, number: int) -> bytes:
        """Return an entry's line from the file, without a newline."""
        return self._lines.raw(self._lines.starts[number])

    def copy(self, number: int) -> bytes:
        """Return an entry's line for another file: unchanged, unless its id or parent is implied by its position."""
        if number not in self._lines.completed:
            return self.raw(number)
        return dumps(self.plain(number))

    def plain(self, number: int) -> dict[str, Any]:
        """Return an entry as JSON data in the current format.

        Raises:
            ValueError: It is not a JSON object.
        """
        data = parse_line(self.raw(number))
        entry_id, parent_id = self._lines.ids[number], self._lines.parent_ids[number]
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            raise ValueError("it is JSON, but not an entry")  # noqa: TRY004 - a file's content, not an argument's type
        if is_old(data) or data.get("id") != entry_id or data.get("parentId") != parent_id:
            return modernised(data, entry_id, parent_id, self._id_at)
        return data

    def _id_at(self, place: int) -> str | None:
        ids = self._lines.ids
        return ids[place - 1] if 0 < place <= len(ids) else None

    def _damaged(self, number: int, reason: str) -> SessionEntry:
        from pi_hookspecs.rare_entries import UnknownEntry

        line = self._lines.number_of(self._lines.starts[number])
        if self._on_damage is not None:
            self._on_damage(line, reason)
        return UnknownEntry(
            type=DAMAGED,
            id=self._lines.ids[number],
            parent_id=self._lines.parent_ids[number],
            extra={"line": line, "reason": reason},
        )
