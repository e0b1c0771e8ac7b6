"""``ctx.sessions.search``: the results of the index as values of the contract."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from pi_hookspecs import SessionMatch, UserError
from pi_session_sqlite.places import index_of, is_searchable
from pi_session_sqlite.query import Filters, parse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import SessionPlace, SessionStore

__all__ = ["StoredSearch", "matches"]


class StoredSearch:
    """Implements ``SessionSearch`` for the stores that there can be an index of."""

    def search_sessions(
        self, store: SessionStore, place: SessionPlace, query: str, cwd: str | None, limit: int
    ) -> Sequence[SessionMatch] | None:
        """Return at most ``limit`` matches, the best first; None for another store."""
        return matches(store, place, query, cwd, limit) if is_searchable(store.name) else None


def matches(
    store: SessionStore, place: SessionPlace, query: str, cwd: str | None, limit: int
) -> Sequence[SessionMatch]:
    """Search the sessions of a store; a query without a word matches nothing.

    Raises:
        UserError: The index cannot be used.
    """
    try:
        wanted = parse_query(query)
    except UserError:
        return ()
    with closing(index_of(store.name, place)) as index:
        index.update()
        hits = index.search(wanted, Filters(cwd=cwd), limit)
    infos = {info.path: info for info in store.list(cwd)} if hits else {}
    return [
        SessionMatch(session=infos[hit.session], snippet=hit.snippet, entry_id=hit.entry or None, score=hit.score)
        for hit in hits
        if hit.session in infos
    ]
