"""The entries of a file, each parsed when it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import PiError
from pi_hookspecs.session_store import EntryIndex
from pi_session_jsonl._forms import completed, is_old, modernised
from pi_session_jsonl._lines import parse_line

if TYPE_CHECKING:
    from pi_hookspecs.rare_entries import SessionEntry
    from pi_session_jsonl._lines import Lines

__all__ = ["DAMAGED", "StoredEntries"]

DAMAGED = "damaged"
"""Type of the entry that stands for a line which turned out not to be one."""


class StoredEntries:
    """Implements ``IndexedEntries`` over the lines of a file."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self.index = EntryIndex(ids=lines.ids, parent_ids=lines.parent_ids, types=lines.types)

    def __len__(self) -> int:
        return len(self._lines.starts)

    def __getitem__(self, number: int, /) -> SessionEntry:
        from pi_core.wire import entry_from_wire

        try:
            data = self.plain(number)
            try:
                return entry_from_wire(data)
            except PiError:
                return entry_from_wire(completed(data))
        except (PiError, ValueError) as error:
            return self._damaged(number, str(error))

    def raw(self, number: int) -> bytes:
        """Return an entry's line as it stands in the file, without a newline."""
        return self._lines.raw(self._lines.starts[number])

    def copy(self, number: int) -> bytes:
        """Return an entry's line for another file: as it is, unless it is what stands around it that names it."""
        if number not in self._lines.completed:
            return self.raw(number)
        from pi_core.wire import dumps

        return dumps(self.plain(number))

    def plain(self, number: int) -> dict[str, Any]:
        """Return an entry as JSON data in today's form.

        Raises:
            ValueError: It is no JSON object.
        """
        data = parse_line(self.raw(number))
        entry_id, parent_id = self._lines.ids[number], self._lines.parent_ids[number]
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            raise ValueError("it is JSON, but no entry")  # noqa: TRY004 - a file's content, not an argument's type
        if is_old(data) or data.get("id") != entry_id or data.get("parentId") != parent_id:
            return modernised(data, entry_id, parent_id, self._id_at)
        return data

    def _id_at(self, place: int) -> str | None:
        ids = self._lines.ids
        return ids[place - 1] if 0 < place <= len(ids) else None

    def _damaged(self, number: int, reason: str) -> SessionEntry:
        from pi_hookspecs.rare_entries import UnknownEntry

        line = self._lines.number_of(self._lines.starts[number])
        return UnknownEntry(
            type=DAMAGED,
            id=self._lines.ids[number],
            parent_id=self._lines.parent_ids[number],
            extra={"line": line, "reason": reason},
        )
