"""``ctx.sessions``: the stored sessions, read in threads and never changed."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define

from pi_core.session import ReadOnlySession
from pi_core.session.lookup import find_by_prefix
from pi_core.session.open_session import OpenSession
from pi_hookspecs import SearchableStore, UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.host import PluginHost
    from pi_hookspecs import SessionInfo, SessionMatch, SessionStore, StoredSession

__all__ = ["StoredSessions"]


class StoredSessions:
    """Implements ``Sessions`` over a store.

    Args:
        store: Returns the store.
        cwd: The working directory whose sessions are meant first by the beginning of an id.
    """

    def __init__(self, store: Callable[[], SessionStore], cwd: Path) -> None:
        self._store = store
        self._cwd = cwd

    async def list(self, cwd: str | Path | None = None) -> Sequence[SessionInfo]:
        """Return the sessions of a working directory, or all, the most recently modified first."""
        return await asyncio.to_thread(self._store().list, _folder(cwd))

    async def open(self, reference: str) -> ReadOnlySession:
        """Read a stored session."""
        stored = await asyncio.to_thread(self._open, self._store(), reference)
        return ReadOnlySession(_Viewed(OpenSession(stored, report=lambda _: None, begun=True)))

    async def search(self, query: str, cwd: str | Path | None = None, limit: int = 50) -> Sequence[SessionMatch]:
        """Search the sessions of a working directory, or all."""
        store = self._store()
        if not isinstance(store, SearchableStore):
            raise UserError(
                f"The session store {store.name!r} cannot search. Use another one with the setting sessionStore, or a"
                " plugin that searches its sessions."
            )
        return await asyncio.to_thread(store.search, query, _folder(cwd), limit)

    def _open(self, store: SessionStore, reference: str) -> StoredSession:
        try:
            stored = store.open(reference)
        except UserError:
            if Path(reference).name != reference:
                raise
            stored = store.open(find_by_prefix(reference, store.list(), str(self._cwd)).path)
        stored.close()  # its entries stay readable, and its lock is for sessions that append
        return stored


@define(eq=False)
class _Viewed:
    """A session that nothing is appended to; a ``SessionSource``."""

    open_session: OpenSession
    is_persisted: bool = True
    plugin_host: PluginHost | None = None


def _folder(cwd: str | Path | None) -> str | None:
    return None if cwd is None else os.path.abspath(cwd)  # noqa: PTH100 - as in new_header
