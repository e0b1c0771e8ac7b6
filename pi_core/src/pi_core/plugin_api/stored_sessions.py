"""``ctx.sessions``: the stored sessions, read in threads and never changed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core.session import ReadOnlySession
from pi_core.session.lookup import find_by_prefix
from pi_core.session.open_session import OpenSession
from pi_hookspecs import SearchableStore, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import SessionInfo, SessionMatch, SessionPlace, SessionStore, StoredSession

__all__ = ["StoredSessions"]


class StoredSessions:
    """Implements ``Sessions`` on top of a store.

    Args:
        chosen: Returns the store, its location, and the plugins.
        cwd: The working directory whose sessions take precedence when an id prefix is looked up.
    """

    def __init__(self, chosen: Callable[[], ChosenStore], cwd: Path) -> None:
        self._chosen = chosen
        self._cwd = cwd

    def _store(self) -> SessionStore:
        return self._chosen().store

    @property
    def place(self) -> SessionPlace:
        """The location of the sessions."""
        return self._chosen().place

    async def list(self, cwd: str | Path | None = None) -> Sequence[SessionInfo]:
        """Return the sessions of a working directory, or all, the most recently modified first."""
        return await asyncio.to_thread(self._store().list, _folder(cwd))

    async def open(self, reference: str) -> ReadOnlySession:
        """Read a stored session."""
        stored = await asyncio.to_thread(self._open, self._store(), reference)
        return ReadOnlySession(OpenSession(self._chosen(), stored, begun=True))

    async def search(self, query: str, cwd: str | Path | None = None, limit: int = 50) -> Sequence[SessionMatch]:
        """Search the sessions of a working directory, or all."""
        chosen, folder = self._chosen(), _folder(cwd)
        store = chosen.store
        if isinstance(store, SearchableStore):
            return await asyncio.to_thread(store.search, query, folder, limit)
        for service in () if chosen.host is None else chosen.host.services("SessionSearch"):
            search = service.thing.search_sessions
            found: Sequence[SessionMatch] | None = await asyncio.to_thread(
                search, store, chosen.place, query, folder, limit
            )
            if found is not None:
                return found
        from pi_core.host.advice import plugin_for

        raise UserError(
            f"The session store {store.name!r} cannot search, and no plugin searches it. {plugin_for('SessionSearch')}"
            " The setting sessionStore selects another store."
        )

    def _open(self, store: SessionStore, reference: str) -> StoredSession:
        try:
            stored = store.open(reference)
        except UserError:
            if Path(reference).name != reference:
                raise
            stored = store.open(find_by_prefix(reference, store.list(), str(self._cwd)).path)
        stored.close()  # its entries stay readable, and its lock is for sessions that append
        return stored


def _folder(cwd: str | Path | None) -> str | None:
    return None if cwd is None else os.path.abspath(cwd)  # noqa: PTH100 - as in new_header
