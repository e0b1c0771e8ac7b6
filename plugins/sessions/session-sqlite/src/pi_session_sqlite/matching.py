"""Which entries match a query: statements that find them in the index, and how well the text of each matches."""

from __future__ import annotations

import re
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from attrs import frozen

from pi_session_sqlite.query import TEXT_END, TRIGRAM

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Self

    from pi_session_sqlite.query import Filters, Query

__all__ = ["Sample", "Statement", "Weight", "rare_term", "statements"]

_USUAL_LENGTH = 500
"""Characters of a text that counts half: hits in short texts weigh more."""

_MOST_HITS = 50
"""Hits of a term in a text that are counted."""

_LAST = "\U0010ffff"
"""The last character there is."""

_USUAL = 0.35
"""Part of the texts: where more of them have a term, reading all costs less than finding those."""

_MANY = 0.1
"""Part of the texts: reading fewer costs less than finding those of them that an excluded term leaves over."""

_FEWEST = 3
"""Trigrams that are looked for at least: a sample without any text that has them does not show how rare they are."""

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


def statements(query: Query, filters: Filters, sample: Sample, is_rare: Callable[[str], bool]) -> Iterator[Statement]:
    """Yield statements whose rows, number and text, may match; texts are compared after.

    A term that is shorter than a trigram begins those of the texts that it is in. If it is rare, its entries are found
    by them. Otherwise the index finds the entries with trigrams of the longer terms, unless most of the sample has
    them, too: then all texts are read.
    An excluded term that many of these entries have leaves them out in the index, without a look at their texts. A text
    with all of its trigrams may still be without the term: a second statement has those, up to a number.
    """
    short = [term for term in query.terms if len(term) < TRIGRAM]
    rare = [term for term in short if sample.share(term) < _USUAL and is_rare(term)]
    wanted = [] if rare else sample.telling(query.terms)
    candidates = sample.having_all(wanted)
    many = not rare and sample.part(candidates) > _MANY
    usual = [each for each in query.excluded if many and sample.share(each, of=candidates) > _USUAL]
    groups = [parts for each in usual if (parts := trigrams([each]))]
    is_in_index = bool(wanted or groups) and sample.part(sample.without(candidates, groups)) <= _USUAL
    in_index = wanted if is_in_index else []
    chosen = [(sample.share(term), _in_text(term)) for term in query.terms if _is_compared(term, rare, in_index)]
    chosen += [(1 - sample.share(term), _not_in_text(term)) for term in query.excluded]
    conditions = [*map(_in_index, rare), *_most_telling_first(chosen), *_filtered(filters)]
    if not is_in_index:
        yield Statement.of("", conditions, is_whole=bool(rare))
        return
    expression, left_out = f"({_all_of(wanted or [TEXT_END])})", [f"({_all_of(parts)})" for parts in groups]
    yield Statement.of(" NOT ".join((expression, *left_out)), conditions)
    if left_out:
        yield Statement.of(f"{expression} AND ({' OR '.join(left_out)})", conditions, most=_MOST_DOUBTFUL)


@frozen
class Statement:
    """A statement that finds rows, number and text, in order of the numbers.

    Attributes:
        sql: Its text; unless ``is_whole``, the last values are the first and the last number.
        values: Its values without the numbers.
        is_whole: Whether it finds all rows at once.
    """

    sql: str
    values: tuple[Any, ...]
    is_whole: bool

    @classmethod
    def of(
        cls,
        match: str,
        conditions: Sequence[tuple[str, Sequence[Any]]],
        *,
        most: int | None = None,
        is_whole: bool = False,
    ) -> Self:
        """Return the statement for an expression of the index, if any, and conditions; ``most`` counts the latest."""
        source = "entries e"
        if most is not None:
            latest = f"SELECT rowid FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT {most}"  # noqa: S608
            conditions = [(f"e.id IN ({latest})", [match]), *conditions]
        elif match:
            source = "found CROSS JOIN entries e ON e.id = found.rowid"
            conditions = [("found MATCH ?", [match]), *conditions]
        number = "found.rowid" if match and most is None else "e.id"
        if not (is_whole := is_whole or most is not None):
            conditions = [*conditions, (f"{number} BETWEEN ? AND ?", [])]
        where = " AND ".join(condition for condition, _ in conditions) or "1"
        values = tuple(value for _, some in conditions for value in some)
        return cls(f"SELECT e.id, e.text FROM {source} WHERE {where} ORDER BY {number}", values, is_whole)  # noqa: S608


class Sample:
    """Some texts, from which the part of all texts that has a term is estimated.

    Args:
        texts: The texts; of long ones, their beginning will do.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [each.lower() for each in texts]
        self._all = (1 << len(self._texts)) - 1
        self._known: dict[str, int] = {}

    def telling(self, terms: Sequence[str]) -> list[str]:
        """Return trigrams of terms that few texts have together, the most telling first; empty for short terms.

        Each of them costs as much as there are entries that have it: those are left out that all the others imply.
        """
        left, rest, chosen = self._all, trigrams(terms), list[str]()
        matching = self.having_all(each for each in terms if len(each) >= TRIGRAM)
        while rest and (len(chosen) < _FEWEST or left != matching):
            best = min(rest, key=lambda each: ((left & self._having(each)).bit_count(), self._having(each).bit_count()))
            if left & self._having(best) == left and len(chosen) >= _FEWEST:
                break
            left &= self._having(best)
            chosen.append(best)
            rest.remove(best)
        return chosen

    def share(self, term: str, of: int | None = None) -> float:
        """Return the part of texts, or of some of them, that has a term; 0 if there are none."""
        of = self._all if of is None else of
        return (of & self._having(term)).bit_count() / max(1, of.bit_count())

    def part(self, texts: int) -> float:
        """Return the part of all texts that some of them are; 0 if there are none."""
        return texts.bit_count() / max(1, len(self._texts))

    def having_all(self, terms: Iterable[str]) -> int:
        """Return the texts, as the bits of a number, that have all terms."""
        found = self._all
        for each in terms:
            found &= self._having(each)
        return found

    def matching(self, query: Query) -> int:
        """Return the texts that match a query."""
        return self.without(self.having_all(query.terms), [[each] for each in query.excluded])

    def without(self, texts: int, groups: Iterable[Sequence[str]]) -> int:
        """Return those of the texts that lack a term of each group."""
        for each in groups:
            texts &= ~self.having_all(each)
        return texts

    def _having(self, term: str) -> int:
        if (found := self._known.get(term)) is None:
            found, part = 0, term.lower()
            for number, text in enumerate(self._texts):
                if part in text:
                    found |= 1 << number
            self._known[term] = found
        return found


def trigrams(terms: Sequence[str]) -> list[str]:
    """Return the different trigrams of terms; short terms have none."""
    parts = (term[start : start + TRIGRAM] for term in terms for start in range(len(term) - TRIGRAM + 1))
    return [*dict.fromkeys(parts)]


def _all_of(parts: Iterable[str]) -> str:
    """Return the expression of the index for all of some trigrams."""
    quoted = (each.replace('"', '""') for each in parts)
    return " AND ".join(f'"{each}"' for each in quoted)


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


def _is_compared(term: str, rare: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether SQLite compares a term itself: what trigrams do not decide, and where that costs one comparison."""
    if len(term) < TRIGRAM:
        return term not in rare
    return term.isascii() and (" " in term or not wanted)


def _most_telling_first(conditions: list[tuple[float, tuple[str, Sequence[Any]]]]) -> list[tuple[str, Sequence[Any]]]:
    """Return conditions in ascending order of the part of texts that meets them: SQLite checks them in this order."""
    return [condition for _, condition in sorted(conditions, key=itemgetter(0))]


def _in_text(term: str) -> tuple[str, Sequence[str]]:
    """Return a condition that texts with a term meet, if it is short or ASCII; texts with similar letters may, too."""
    spellings = [term] if term.isascii() else _spellings(term)
    return "(" + " OR ".join(["e.text LIKE ? ESCAPE '\\'"] * len(spellings)) + ")", [*map(_like, spellings)]


def _not_in_text(term: str) -> tuple[str, Sequence[str]]:
    """Return a condition that texts without a term meet; SQLite knows the case of ASCII letters alone."""
    return "e.text NOT LIKE ? ESCAPE '\\'", [_like(term.lower())]


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
