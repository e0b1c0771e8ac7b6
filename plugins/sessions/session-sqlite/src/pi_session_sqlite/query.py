"""Search queries: words, ``"phrases"`` and ``-words``, and filters."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from attrs import frozen

from pi_hookspecs import UserError

__all__ = ["Filters", "Query", "parse_query", "parse_since"]

_TERM = re.compile(r'(-?)"([^"]*)"|(\S+)')
_AGE = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}

TRIGRAM = 3
"""Length of the pieces of text that are indexed."""

TEXT_END = "\x01" * TRIGRAM
"""Appended to each indexed text: each of its characters begins a trigram, and all texts have this one."""


@frozen
class Query:
    """Terms that an entry must contain, and terms that it must not contain; case-insensitive."""

    terms: tuple[str, ...]
    excluded: tuple[str, ...] = ()


@frozen(kw_only=True)
class Filters:
    """Which entries to search.

    Attributes:
        cwd: The session's working directory, as in its header.
        role: ``user``, ``assistant``, ``toolResult`` and so on.
        tool: The name of the tool that was called, or that answered.
        since: Unix milliseconds of the oldest entry.
    """

    cwd: str | None = None
    role: str | None = None
    tool: str | None = None
    since: int | None = None


def parse_query(text: str) -> Query:
    """Return the terms of a query.

    Unbalanced quotes and operators of other query languages are ordinary characters. White space between the words
    of a phrase is one space, as in the index.

    Raises:
        UserError: There is no term to search for.
    """
    terms: list[str] = []
    excluded: list[str] = []
    for sign, phrase, word in _TERM.findall(_storable(text)):
        negative = bool(sign) or (len(word) > 1 and word[0] == "-")
        term = " ".join(phrase.split()) if not word else word[negative:]
        if term:
            (excluded if negative else terms).append(term)
    if not terms:
        raise UserError(f"The query {text!r} has no word to look for. Give at least one, such as 'retry'")
    return Query(tuple(dict.fromkeys(terms)), tuple(dict.fromkeys(excluded)))


def parse_since(text: str, now: datetime) -> int:
    """Return the time that ``7d``, ``12h``, ``2w`` or a date means, in Unix milliseconds; a date is in local time.

    Raises:
        UserError: The text has none of these forms.
    """
    try:
        age = _AGE.fullmatch(text)
        moment = now - timedelta(**{_UNITS[age[2]]: int(age[1])}) if age else datetime.fromisoformat(text)
        return int(moment.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise UserError(
            f"--since {text!r} is not a time. Give an age such as 7d or 12h, or a date: 2026-01-31"
        ) from None


def _storable(text: str) -> str:
    """Return a text without NUL and lone surrogates, which SQLite cannot compare."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
