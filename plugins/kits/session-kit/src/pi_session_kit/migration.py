"""Sessions of versions 1 and 2 in the current version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_session_kit.entries import StoredEntries
from pi_session_kit.lines import VERSION, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_session_kit.lines import Lines

__all__ = ["migrated"]


def migrated(lines: Lines) -> bytes:
    """Return a session of an older version in the current one; unchanged lines keep their bytes."""
    return b"\n".join(_migrated_lines(lines)) + b"\n"


def _migrated_lines(lines: Lines) -> Iterator[bytes]:
    from pi_core import dumps

    yield dumps({**lines.header, "version": VERSION})
    entries = StoredEntries(lines)
    kept = {damage.start for damage in lines.damage if damage.start > lines.header_start}
    numbers = {start: number for number, start in enumerate(lines.starts)}
    torn = () if lines.torn is None else (lines.torn,)
    for start in sorted((*numbers, *kept, *torn)):
        raw = lines.raw(start)
        try:
            plain = entries.plain(numbers[start])
            unchanged = parse_line(raw) == plain
        except (KeyError, ValueError):  # damaged, and reported as such, but not removed
            yield raw
            continue
        yield raw if unchanged else dumps(plain)
