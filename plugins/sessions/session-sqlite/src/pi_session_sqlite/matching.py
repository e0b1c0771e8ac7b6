"""Which entries match a query: statements that find them in the index, and how well the text of each matches."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from pi_session_sqlite.query import TRIGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_session_sqlite.query import Filters, Query

__all__ = ["Weight", "rare_term", "statements"]

_USUAL_LENGTH = 500
"""Characters of a text that counts half: hits in short texts weigh more."""

_MOST_HITS = 50
"""Hits of a term in a text that are counted."""

_LAST = "\U0010ffff"
"""The last character there is."""

_MOST_DOUBTFUL = 2_000
"""Entries with all trigrams of an excluded term that are looked at, the latest: nearly always they have the term."""


class Weight:
    """How well a text matches: the number of hits of each term, in proportion to the length; 0 for no match."""

    def __init__(self, query: Query) -> None:
        self.first = query.terms[0]
        self._terms = [each.lower() for each in query.terms]
        self._excluded = [each.lower() for each in query.excluded]

    def __call__(self, text: str) -> float:
        """Return the score of a text; 0 if it does not match."""
        text = text.lower()
        if any(each in text for each in self._excluded):
            return 0.0
        total, room = 0.0, 1.0 + len(text) / _USUAL_LENGTH
        for term in self._terms:
            count = min(text.count(term), _MOST_HITS)
            if not count:
                return 0.0
            total += count / (count + room)
        return total / len(self._terms)


def statements(query: Query, filters: Filters, is_rare: Callable[[str], bool]) -> Iterator[tuple[str, list[Any]]]:
    """Yield statements whose rows, number and text, may match, the latest first; texts are compared after.

    A term that is shorter than a trigram begins those of the texts that it is in. If it is rare, its entries are found
    by them; otherwise the latest texts are read, of which many have it.
    The trigrams of an excluded term leave entries out in the index, without a look at their texts. A text with all of
    them may still be without the term: a second statement yields those, up to a number.
    """
    rare = [term for term in query.terms if len(term) < TRIGRAM and is_rare(term)]
    wanted = "" if rare else _all_of(query.terms)
    excluded = [trigrams for each in query.excluded if (trigrams := _all_of([each]))]
    conditions = [_in_index(term) for term in rare]
    conditions += [_in_text(each) for each in query.terms if each not in rare and _is_in_statement(each, wanted)]
    if not wanted:
        conditions += [_not_in_text(each) for each in query.excluded if each.isascii()]
        yield _statement("", [*conditions, *_filtered(filters)])
        return
    conditions += [_not_in_text(each) for each in query.excluded if len(each) < TRIGRAM]
    conditions += _filtered(filters)
    yield _statement("".join((f"({wanted})", *(f" NOT ({each})" for each in excluded))), conditions)
    if excluded:
        doubtful = f"({wanted}) AND ({' OR '.join(f'({each})' for each in excluded)})"
        conditions += [_not_in_text(each) for each in query.excluded if each.isascii() and len(each) >= TRIGRAM]
        yield _statement(doubtful, conditions, _MOST_DOUBTFUL)


def _statement(
    match: str, conditions: Sequence[tuple[str, Sequence[Any]]], most: int | None = None
) -> tuple[str, list[Any]]:
    if not match:
        source = "entries e"
    elif most is None:
        source = "found JOIN entries e ON e.id = found.rowid"
        conditions = [("found MATCH ?", [match]), *conditions]
    else:
        latest = f"SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT {most}"  # noqa: S608 - a number
        source, conditions = "entries e", [(f"e.id IN ({latest})", [match]), *conditions]
    order = "found.rowid" if match and most is None else "e.id"
    where = " AND ".join(condition for condition, _ in conditions) or "1"
    values = [value for _, some in conditions for value in some]
    return f"SELECT e.id, e.text FROM {source} WHERE {where} ORDER BY {order} DESC", values  # noqa: S608


def _all_of(terms: Sequence[str]) -> str:
    """Return the expression of the index for all trigrams of terms; empty for short terms."""
    return " AND ".join(f'"{part}"' for part in dict.fromkeys(_trigrams(terms)))


def _trigrams(terms: Sequence[str]) -> Iterator[str]:
    for term in terms:
        for start in range(len(term) - TRIGRAM + 1):
            yield term[start : start + TRIGRAM].replace('"', '""')


def rare_term(term: str, most: int) -> tuple[str, list[Any]]:
    """Return a statement that checks whether the texts have at most so many trigrams that begin with a short term."""
    places, values = _places(term)
    return f"SELECT count(*) <= {most} FROM (SELECT 1 FROM ({places}) LIMIT {most + 1})", values  # noqa: S608


def _in_index(term: str) -> tuple[str, Sequence[str]]:
    """Return the condition that a text has a trigram which begins with a short term."""
    places, values = _places(term)
    return f"e.id IN ({places})", values


def _places(term: str) -> tuple[str, list[str]]:
    """Return the query for the texts with a trigram that begins with a term: a seek for each way to write the term."""
    spellings = [term.lower()] if term.isascii() else _spellings(term)
    values = [value for each in spellings for value in (each, each + _LAST * (TRIGRAM - len(each)))]
    return " UNION ALL ".join(["SELECT doc FROM trigrams WHERE term BETWEEN ? AND ?"] * len(spellings)), values


def _is_in_statement(term: str, wanted: str) -> bool:
    """Whether SQLite compares a term itself: what trigrams do not decide, and where that costs one comparison."""
    if len(term) < TRIGRAM:
        return True
    return term.isascii() and (" " in term or not wanted)


def _in_text(term: str) -> tuple[str, Sequence[str]]:
    """Return the condition that a short term is in the text; SQLite knows the case of ASCII letters alone."""
    spellings = [term] if term.isascii() else _spellings(term)
    return "(" + " OR ".join(["e.text LIKE ? ESCAPE '\\'"] * len(spellings)) + ")", [*map(_like, spellings)]


def _not_in_text(term: str) -> tuple[str, Sequence[str]]:
    condition, values = _in_text(term)
    return f"NOT {condition}", values


def _spellings(term: str) -> list[str]:
    return [*map("".join, product(*(sorted({each, *_cases(each)}) for each in term)))]


def _cases(character: str) -> Iterator[str]:
    upper = character.upper()
    return (each for each in (character.lower(), upper, upper.lower()) if len(each) == 1)


def _filtered(filters: Filters) -> Iterator[tuple[str, Sequence[Any]]]:
    if filters.cwd is not None:
        yield "e.file IN (SELECT id FROM files WHERE cwd = ?)", [filters.cwd]
    for column, value in (("e.role", filters.role), ("e.tool", filters.tool)):
        if value is not None:
            yield f"{column} = ?", [value]
    if filters.since is not None:
        yield "e.time >= ?", [filters.since]


def _like(term: str) -> str:
    escaped = re.sub(r"([\\%_])", r"\\\1", term)
    return f"%{escaped}%"
