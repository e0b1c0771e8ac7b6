"""The search over the index: finds entries by a query, the best first."""

from __future__ import annotations

import os
import re
import sqlite3
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from attrs import frozen

from pi_session_sqlite.database import forget, open_database
from pi_session_sqlite.matching import Sample, Weight, rare_term, statements
from pi_session_sqlite.query import Filters
from pi_session_sqlite.sqlite import is_damage
from pi_session_sqlite.updating import latest_within, update

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pi_session_sqlite.matching import Statement
    from pi_session_sqlite.query import Query
    from pi_session_sqlite.sources import Source

__all__ = ["Hit", "SearchIndex"]

_AROUND = 80
"""Characters of a snippet before and after the hit."""

_MOST_BYTES = 2_000_000_000
"""Bytes of sessions that are indexed; the index has up to twice that."""

_MOST_RANKED = 1_000
"""Entries that are ranked: of a query that more entries match, those that were stored last."""

_SAMPLES = 256
"""Texts by which the costs of a search are estimated."""

_BEGINNING = 2_000
"""Characters of these texts."""

_MARGIN = 1.3
"""By how much more entries are read than are expected to be needed."""

_MOST_TRIGRAMS = 20_000
"""Trigrams of entries that begin with a term of one or two letters; of more, the latest entries soon have it."""

_HIT = """
SELECT f.path, f.session, f.cwd, e.entry, e.role, e.tool, e.time, e.text
FROM entries e JOIN files f ON f.id = e.file WHERE e.id = ?"""


@frozen(kw_only=True)
class Hit:
    """An entry that a search found.

    Attributes:
        session: The reference of the session: the path of its file.
        time: Unix milliseconds, 0 when the entry has no time.
        snippet: The text around the hit, in one line.
        score: Higher is better; comparable within one search.
    """

    session: str
    id: str
    cwd: str
    entry: str
    role: str
    tool: str | None
    time: int
    snippet: str
    score: float

    @property
    def timestamp(self) -> str | None:
        """The time as in session files; None if there is none."""
        if not self.time:
            return None
        moment = datetime.fromtimestamp(self.time / 1000, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{self.time % 1000:03}Z"

    @property
    def when(self) -> str:
        """The time for people: local, to the minute."""
        return f"{datetime.fromtimestamp(self.time / 1000).astimezone():%Y-%m-%d %H:%M}" if self.time else "-"


class SearchIndex:
    """The index of the sessions of a store.

    Args:
        path: The database of the index.
        source: The sessions.
        most: Bytes of sessions that are indexed: of more, those that were stored last.

    Attributes:
        notices: What the user should know of the last update, in sentences.

    Raises:
        UserError: The database cannot be used.
    """

    def __init__(self, path: Path, source: Source, most: int = _MOST_BYTES) -> None:
        self._path = path
        self._source = source
        self._most = most
        self.notices: list[str] = []
        self._database = open_database(path)

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def update(self, progress: Callable[[int, int], None] | None = None) -> bool:
        """Read what changed; return False when another process kept the database locked."""
        try:
            return self._update(progress)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self._make_again()
        return self._update(progress)

    def search(self, query: Query, filters: Filters | None = None, limit: int = 20) -> list[Hit]:
        """Return at most ``limit`` entries, the best first."""
        filters = filters or Filters()
        try:
            return self._found(query, filters, limit)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self._make_again()
        self._update(None)
        return self._found(query, filters, limit)

    def _update(self, progress: Callable[[int, int], None] | None) -> bool:
        stored = [*self._source.stored()]
        latest = latest_within(self._most, stored)
        self.notices.clear()
        if len(latest) < len(stored):
            self.notices.append(
                f"There are more than {self._most / 1e9:g} GB of sessions: the {len(latest)} that were stored last were"
                f" searched, {len(stored) - len(latest)} older ones were not."
            )
        is_complete = update(self._database, self._source, latest, progress)
        if not is_complete:
            self.notices.append("Another process is writing the search index: what is newest may be missing.")
        return is_complete

    def _make_again(self) -> None:
        self._database.close()
        forget(self._path)
        self._database = open_database(self._path)

    def _found(self, query: Query, filters: Filters, limit: int) -> list[Hit]:
        weigh = Weight(query)
        last = self._database.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0]
        sample = self._sample(last)
        ranked: dict[int, float] = {}
        for statement in statements(query, filters, sample, self._is_rare):
            ranked |= self._latest(statement, weigh, last, sample.part(sample.matching(query)))
        latest = sorted(ranked, reverse=True)[:_MOST_RANKED]
        latest.sort(key=ranked.__getitem__, reverse=True)  # stable: of equal ones the latest first
        hits = (self._hit(number, ranked[number], weigh) for number in latest)
        return list(islice(filter(None, hits), limit))

    def _sample(self, last: int) -> Sample:
        """Return the beginnings of some texts from all over the index."""
        numbers = {last * number // _SAMPLES for number in range(1, _SAMPLES + 1)}
        marks = ", ".join("?" * len(numbers))
        sql = f"SELECT substr(text, 1, {_BEGINNING}) FROM entries WHERE id IN ({marks})"  # noqa: S608 - numbers
        return Sample(text for (text,) in self._database.execute(sql, [*numbers]))

    def _latest(self, statement: Statement, weigh: Weight, last: int, share: float) -> dict[int, float]:
        """Return the weights of the matches that were stored last, a little more than are ranked, or all.

        SQLite reads the index much faster in ascending order. So ranges are read, the latest first: the first one is as
        long as is needed where ``share`` of the entries match, the next as what was found suggests.
        """
        found: dict[int, float] = {}
        end = last
        while end > 0 and len(found) < _MOST_RANKED:
            share = share if end == last else len(found) / (last - end)
            begin = 1 if statement.is_whole else end - int(_MARGIN * (_MOST_RANKED - len(found)) / max(share, 1e-9))
            values = statement.values if statement.is_whole else (*statement.values, begin, end)
            for number, text in self._database.execute(statement.sql, values):
                if (weight := weigh(text)) > 0:
                    found[number] = weight
            end = begin - 1
        return found

    def _is_rare(self, term: str) -> bool:
        """Whether so few entries may have a short term that all of them can be compared."""
        sql, values = rare_term(term, _MOST_TRIGRAMS)
        return bool(self._database.execute(sql, values).fetchone()[0])

    def _hit(self, number: int, score: float, weigh: Weight) -> Hit | None:
        """Return what a search shows of an entry; None if its session is gone."""
        path, *columns, text = self._database.execute(_HIT, (number,)).fetchone()
        name = os.fsdecode(path)
        if not self._source.exists(name):  # removed since, from a folder that this search did not look at
            return None
        fields = dict(zip(("id", "cwd", "entry", "role", "tool", "time"), columns, strict=True))
        return Hit(session=name, snippet=_snippet(text, weigh.first), score=round(score, 4), **fields)


def _snippet(text: str, term: str) -> str:
    hit = re.search(re.escape(term), text, re.IGNORECASE)
    start, end = hit.span() if hit else (0, 0)
    begin, stop = max(0, start - _AROUND), end + _AROUND
    return f"{'…' if begin else ''}{text[begin:stop].strip()}{'…' if stop < len(text) else ''}"
