"""Copies lines of stored entries to another session; stores that keep lines provide them byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pi_hookspecs.session_store import StoredSession

__all__ = ["RawLines", "copied_lines", "lines_by_id"]


@runtime_checkable
class RawLines(Protocol):
    """A stored session that can provide the lines of its entries."""

    def raw_lines(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the lines of entries, without newlines; numbers continue with the entries appended since opening.

        Raises:
            OSError: The lines cannot be read.
        """
        ...


def copied_lines(source: StoredSession, numbers: Sequence[int]) -> Iterator[bytes]:
    """Yield the lines of entries for another session: the stored lines if available, else newly serialized lines."""
    if isinstance(source, RawLines):
        return source.raw_lines(numbers)
    from pi_core import dumps

    return (dumps(source.entries[number]) for number in numbers)


def lines_by_id(data: bytes) -> dict[str, bytes]:
    """Return the lines of a session's entries by id; an empty result if the data is not a session."""
    from pi_session_kit.lines import NoSession, read_lines

    try:
        lines = read_lines(data)
    except NoSession:
        return {}
    return dict(zip(lines.ids, map(lines.raw, lines.starts), strict=True))
