"""Regular expressions from elsewhere (servers, schemas of tools), which must not stop pi.

Python's ``re`` has no limit of time, and some patterns need longer than the universe for thirty characters.
"""

from __future__ import annotations

__all__ = ["pattern_matches"]

_SECONDS = 0.05
_LONGEST = 5_000
"""Characters of a pattern; compiling a longer one takes noticeable time itself."""


def pattern_matches(pattern: str, text: str) -> bool | None:
    """Return whether a pattern matches somewhere in a text; None if that cannot be decided.

    It cannot be decided if the pattern is of another dialect, as JavaScript's, too long, or takes too long.
    """
    import regex  # only few schemas have patterns

    if len(pattern) > _LONGEST:
        return None
    try:
        return regex.search(pattern, text, timeout=_SECONDS, concurrent=False) is not None
    except (regex.error, TimeoutError, RecursionError, MemoryError, OverflowError):
        return None
