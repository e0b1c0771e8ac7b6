"""The contract that holds for every session store, over the one in SQLite."""

from __future__ import annotations

from pi_session_sqlite.store import SqliteSessionStore
from pi_testing import StoreContract


class TestSqlite(StoreContract):
    def make_store(self, place):
        return SqliteSessionStore(place)
