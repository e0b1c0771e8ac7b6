"""Checks of a session file: the invariants of ``pi sessions fsck``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import Factory, define, frozen

from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.rare_entries import CompactionEntry, LabelEntry, UnknownEntry
from pi_session_jsonl.calls import ToolCalls
from pi_session_kit.entries import DAMAGED, StoredEntries
from pi_session_kit.lines import VERSION, NoSession, parse_line, read_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pi_session_kit.lines import Lines

__all__ = ["Checked", "Finding", "check_session", "on_cycles"]

_SUBSTITUTE = b'{"type":"session","version":3,"id":"none"}\n'
"""Substitute header of a file without one, so that its entries can be checked."""


@frozen
class Finding:
    """A problem of a session file.

    Attributes:
        line: Number of the line, from 1.
        message: The problem.
        mendable: Whether a repair fixes it.
    """

    line: int
    message: str
    mendable: bool = True


@define(eq=False)
class Checked:
    """A session file and its findings.

    Attributes:
        lines: The file; one without a header has a substitute before it.
        headless: Whether it has no header.
        winners: Number of the entry for each id: the last one that has it.
        damaged: Numbers of entries that cannot be read.
        calls: The tool calls in it.
    """

    lines: Lines
    headless: bool
    winners: dict[str, int]
    damaged: set[int] = Factory(set)
    calls: ToolCalls = Factory(ToolCalls)
    findings: list[Finding] = Factory(list)

    def add(self, number: int, message: str, *, mendable: bool = True) -> None:
        """Record a problem of an entry."""
        self.findings.append(Finding(self.line_of(number), message, mendable))

    def line_of(self, number: int) -> int:
        """Return the number of an entry's line."""
        return self.line_at(self.lines.starts[number])

    def line_at(self, start: int) -> int:
        """Return the number of the line that begins there."""
        return self.lines.number_of(start) - self.headless

    @property
    def parents(self) -> dict[int, int | None]:
        """The entry that each entry follows; None for a root or a missing parent."""
        return {number: self._parent_of(number) for number in self.winners.values()}

    def _parent_of(self, number: int) -> int | None:
        parent = self.lines.parent_ids[number]
        return None if parent is None else self.winners.get(parent)


def check_session(data: bytes) -> Checked:
    """Check a session file; findings are in the order of the lines.

    Raises:
        NoSession: There is neither a header nor an entry in it.
    """
    try:
        lines, headless = read_lines(data), False
    except NoSession:
        lines, headless = read_lines(_SUBSTITUTE + data), True
        if not lines.ids:
            raise
    checked = Checked(lines, headless, {entry_id: number for number, entry_id in enumerate(lines.ids)})
    _check_lines(checked)
    entries = StoredEntries(lines)
    for number in range(len(entries)):
        _check_entry(checked, entries, number)
    parents = checked.parents
    for number in on_cycles(parents):
        checked.add(number, "its parents form a cycle")
    for number, message in checked.calls.unpaired(parents, checked.line_of):
        checked.add(number, message, mendable=False)
    checked.findings.sort(key=lambda finding: finding.line)
    return checked


def on_cycles(parents: Mapping[int, int | None]) -> list[int]:
    """Return the first entry in the file of each cycle of parents."""
    seen: dict[int, int] = {}
    found = []
    for start in parents:
        path = []
        number: int | None = start
        while number is not None and number not in seen:
            seen[number] = start
            path.append(number)
            number = parents[number]
        if number is not None and seen[number] == start:
            found.append(min(path[path.index(number) :]))
    return sorted(found)


def _check_lines(checked: Checked) -> None:
    lines = checked.lines
    if checked.headless:
        checked.findings.append(Finding(1, "the file has no session header"))
    elif lines.version > VERSION:
        message = f"the file has version {lines.version}, which is newer than {VERSION}"
        checked.findings.append(Finding(checked.line_at(lines.header_start), message, mendable=False))
    checked.findings += [Finding(checked.line_at(damage.start), damage.reason) for damage in lines.damage]
    if lines.torn is not None:
        checked.findings.append(Finding(checked.line_at(lines.torn), "it was not completely written"))


def _check_entry(checked: Checked, entries: StoredEntries, number: int) -> None:
    lines, winners = checked.lines, checked.winners
    entry_id, parent_id = lines.ids[number], lines.parent_ids[number]
    entry = entries[number]
    if isinstance(entry, UnknownEntry) and entry.type == DAMAGED:
        checked.damaged.add(number)
        checked.add(number, str(entry.extra["reason"]))
        return
    if lines.version >= VERSION and parse_line(entries.raw(number)).get("id") != entry_id:
        checked.add(number, "it has no id")
    if winners[entry_id] != number:
        checked.add(number, f"its id {entry_id!r} is also that of line {checked.line_of(winners[entry_id])}")
    if parent_id is not None and parent_id not in winners:
        checked.add(number, f"its parent {parent_id!r} is not in the file")
    if isinstance(entry, CompactionEntry) and entry.first_kept_entry_id not in winners:
        checked.add(
            number, f"it keeps entries from {entry.first_kept_entry_id!r}, which is not in the file", mendable=False
        )
    if isinstance(entry, LabelEntry) and entry.target_id not in winners:
        checked.add(number, f"it labels {entry.target_id!r}, which is not in the file", mendable=False)
    if isinstance(entry, MessageEntry):
        checked.calls.note(number, entry.message)
