"""Pastes from terminals that do not mark where one begins and ends."""

from __future__ import annotations

import re

__all__ = ["looks_pasted", "marks_pastes"]

_UNMARKED = {"", "dumb", "unknown", "linux", "ansi", "emacs", "cons25", "sun"}

_KEYS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def marks_pastes(term: str) -> bool:
    """Return whether a terminal of this name marks where a paste begins and ends (bracketed paste)."""
    name = term.lower()
    return name not in _UNMARKED and not (name.startswith("vt") and name[2:3].isdigit())


def looks_pasted(data: str) -> bool:
    """Return whether what was read at once is text in several lines; a command is a line of its own, a key no text."""
    first, end, rest = data.partition("\r")
    return bool(end and rest.strip("\r")) and first[:1] not in ("/", "!") and not _KEYS.search(data)
