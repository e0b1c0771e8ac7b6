"""The order of names in ``ls``: the Unicode collation of their lower-cased forms."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ASCII_ORDER", "in_order"]

ASCII_ORDER = "\t\n\x0b\x0c\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
"""ASCII by primary weight; the other control characters have none and do not count."""

_IGNORED = bytes(code for code in range(1, 128) if chr(code) not in ASCII_ORDER + ASCII_ORDER.upper())
_RANKS = bytes((ASCII_ORDER.find(chr(code).lower()) + 1) % 256 if code < 128 else 0 for code in range(256))  # noqa: PLR2004


def in_order(entries: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Return name and kind, sorted by name without regard to case; equal names by their code points.

    Names of ASCII alone need no collation tables: their characters differ only in primary weight.
    Any other name loads the tables, which takes a moment.
    """
    entries = sorted(entries)  # for those whose keys are equal; the sort below keeps their order
    joined = "\0".join([name for name, _ in entries])
    if not joined.isascii():
        return _by_tables(entries)
    keys = joined.encode("ascii").translate(_RANKS, _IGNORED).split(b"\0")
    return [entries[index] for index in sorted(range(len(entries)), key=keys.__getitem__)]


def _by_tables(entries: Sequence[tuple[str, bool]]) -> list[tuple[str, bool]]:
    key, weights = _tables()

    def order(entry: tuple[str, bool]) -> tuple[str, str]:
        name = entry[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace").lower()
        if not name.isascii():
            return "".join(map(chr, key(name))), entry[0]
        primary = name.translate(weights)
        return f"{primary}\0{' ' * len(primary)}\0{_TERTIARY * len(primary)}\0", entry[0]

    return sorted(entries, key=order)


_TERTIARY = "\2"
"""Third weight of every ASCII character that is not a capital; the second is 0x20."""


@cache
def _tables() -> tuple[Callable[[str], tuple[int, ...]], dict[int, str]]:
    """Return the collation and the primary weights of ASCII; both can be compared as text."""
    from pyuca import Collator  # type: ignore[import-untyped]

    key = Collator().sort_key
    return key, {code: chr(key(chr(code))[0] or 0).replace("\0", "") for code in range(128)}
