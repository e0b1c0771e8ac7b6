"""Detects pastes in terminals that do not mark their start and end."""

from __future__ import annotations

import re

__all__ = ["looks_pasted", "marks_pastes"]

_UNMARKED = {"", "dumb", "unknown", "linux", "ansi", "emacs", "cons25", "sun"}

_KEYS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def marks_pastes(term: str) -> bool:
    """Return whether a terminal of this name marks the start and end of a paste (bracketed paste)."""
    name = term.lower()
    return name not in _UNMARKED and not (name.startswith("vt") and name[2:3].isdigit())


def looks_pasted(data: str) -> bool:
    """Return whether data from one read is text of several lines, unlike a single command line or a key press."""
    first, end, rest = data.partition("\r")
    return bool(end and rest.strip("\r")) and first[:1] not in ("/", "!") and not _KEYS.search(data)
