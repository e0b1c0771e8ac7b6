"""What requests in flight may still cost, visible to all of a user's processes.

Reservations are rows of an SQLite file next to the ledger, because SQLite offers on every system what is needed: a lock
that ends with its process, and atomic changes. No row outlives its process.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from attrs import frozen

from pi_budgets.line import check_is_file
from pi_core import is_running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_budgets.amounts import Amounts

__all__ = ["Reservation", "Reservations"]

_WAIT_SECONDS = 10.0
_RELEASE_SECONDS = 1.0
"""How long to wait for the lock where the event loop is blocked meanwhile."""

_LEASE_SECONDS = 3600.0
"""A reservation expires after this time, in case its process hangs."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS reservations"
    " (id TEXT PRIMARY KEY, host TEXT, pid INTEGER, session TEXT, begun REAL, project TEXT, names TEXT, amounts TEXT)"
)


@frozen(kw_only=True)
class Reservation:
    """What a request may use.

    Attributes:
        id: The request's id.
        session: The session that makes it.
        project: The project that the request counts for.
        names: The budgets that it counts for; None stands for the overall budget.
        amounts: What it may use at most, by measure.
        is_shared: Whether other processes must see it.
    """

    id: str
    session: str
    project: str
    names: tuple[str | None, ...]
    amounts: Amounts
    is_shared: bool = True


class Reservations:
    """The file of reservations.

    Args:
        file: Its path; the first reservation creates it.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._host = platform.node()

    @contextmanager
    def changing(self, wait_seconds: float = _WAIT_SECONDS) -> Iterator[sqlite3.Connection]:
        """Hold the file's lock: no other process reserves or releases anything inside the block.

        Raises:
            OSError: The file cannot be used, or another process has held the lock for ``wait_seconds``.
        """
        try:
            os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
            check_is_file(self._file)
            with closing(self._connect(wait_seconds)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(_TABLE)
                yield connection
                connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise OSError(f"{self._file}: {error}") from error
        except sqlite3.DatabaseError as error:  # damaged; it holds nothing of value
            with suppress(OSError):
                os.unlink(self._file)
            raise OSError(f"{self._file}: {error}; it was removed, try again") from error

    def others(self, connection: sqlite3.Connection) -> list[Reservation]:
        """Return the reservations of running requests; those of processes that are gone are removed."""
        rows = connection.execute("SELECT id, host, pid, session, begun, project, names, amounts FROM reservations")
        kept = []
        for request, host, pid, session, begun, project, names, amounts in rows.fetchall():
            if abs(time.time() - begun) > _LEASE_SECONDS or (host == self._host and not is_running(pid)):
                connection.execute("DELETE FROM reservations WHERE id = ?", (request,))
                continue
            kept.append(
                Reservation(
                    id=request,
                    session=session,
                    project=project,
                    names=tuple(json.loads(names)),
                    amounts=json.loads(amounts),
                )
            )
        return kept

    def add(self, connection: sqlite3.Connection, new: Reservation) -> None:
        """Add a reservation."""
        texts = new.project, json.dumps(new.names), json.dumps(new.amounts)
        row = (new.id, self._host, os.getpid(), new.session, time.time(), *texts)
        connection.execute("INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def release(self, *, request: str | None = None, session: str | None = None) -> None:
        """Remove the reservation of a request, or all of a session.

        A reservation that cannot be removed now ends with the process, or after an hour.
        """
        if not os.path.exists(self._file):
            return
        with suppress(OSError), self.changing(_RELEASE_SECONDS) as connection:
            connection.execute("DELETE FROM reservations WHERE id = ? OR session = ?", (request, session))

    def _connect(self, wait_seconds: float) -> sqlite3.Connection:
        # autocommit; no fsync: what a crash of the system loses here is of processes that it ended, too
        connection = sqlite3.connect(self._file, timeout=wait_seconds, isolation_level=None)
        connection.execute("PRAGMA synchronous = OFF")
        return connection
