"""A repaired copy of a session file: its readable entries, with a header, unique ids and existing parents."""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING

from pi_session_jsonl.check import on_cycles
from pi_session_kit.entries import StoredEntries
from pi_session_kit.header import header_line
from pi_session_kit.lines import VERSION, parse_line

if TYPE_CHECKING:
    from pathlib import Path

    from pi_session_jsonl.check import Checked

__all__ = ["repaired", "write_copy"]


def repaired(checked: Checked) -> bytes:
    """Return the content of a repaired copy; lines that need no repair keep their bytes.

    Unreadable lines are left out. Of entries with the same id the last keeps it, the others get new ones; an entry
    whose parent is missing follows the previous entry in the file; a cycle is cut at its first entry.
    """
    from pi_core import dumps

    entries = StoredEntries(checked.lines)
    kept = [number for number in range(len(entries)) if number not in checked.damaged and not _is_copy(checked, number)]
    ids = {number: _id_of(checked, number) for number in kept}
    parents = _parents(checked, kept)
    written = [_header(checked)]
    for number in kept:
        raw, parent = entries.raw(number), parents[number]
        plain = entries.plain(number)
        now = {**plain, "id": ids[number], "parentId": None if parent is None else ids[parent]}
        written.append(raw if parse_line(raw) == now else dumps(now))
    return b"\n".join(written) + b"\n"


def write_copy(path: Path, data: bytes) -> Path:
    """Write a copy next to a file, under an unused name, and return its path.

    Raises:
        OSError: It could not be written.
    """
    for number in count(1):
        ending = ".repaired.jsonl" if number == 1 else f".repaired-{number}.jsonl"
        copy = path.with_name(path.name.removesuffix(".jsonl") + ending)
        try:
            fd = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            continue
        with open(fd, "wb") as file:  # noqa: PTH123 - of a descriptor
            file.write(data)
        break
    return copy


def _is_copy(checked: Checked, number: int) -> bool:
    """Whether an identical entry follows later."""
    winner = checked.winners[checked.lines.ids[number]]
    starts = checked.lines.starts
    return winner != number and checked.lines.raw(starts[winner]) == checked.lines.raw(starts[number])


def _id_of(checked: Checked, number: int) -> str:
    lines = checked.lines
    if checked.winners[lines.ids[number]] == number:
        return lines.ids[number]
    return lines.make_id(b"%d " % number + lines.raw(lines.starts[number]))


def _parents(checked: Checked, kept: list[int]) -> dict[int, int | None]:
    """Return the parents of the kept entries."""
    alive = set(kept)
    parents = {
        number: _parent(checked, number, alive, kept[place - 1] if place else None) for place, number in enumerate(kept)
    }
    for number in on_cycles(parents):
        parents[number] = None
    return parents


def _parent(checked: Checked, number: int, alive: set[int], before: int | None) -> int | None:
    """Return an entry's parent: its nearest kept ancestor; if that is unknown, the previous entry."""
    seen = {number}
    while (named := checked.lines.parent_ids[number]) is not None:
        parent = checked.winners.get(named)
        if parent is None or parent in alive:
            return before if parent is None else parent
        if parent in seen:
            return before
        seen.add(parent)
        number = parent
    return None


def _header(checked: Checked) -> bytes:
    from pi_core import dumps, new_header

    lines = checked.lines
    if checked.headless:
        return header_line(new_header(None))
    if lines.version >= VERSION:
        return lines.raw(lines.header_start)
    return dumps({**lines.header, "version": VERSION})
