"""What all of a user's processes share: the ledger's sums and the reservations, read and changed under one lock."""

from __future__ import annotations

import os
import threading
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from pi_budgets.ledger import Ledger
from pi_budgets.line import ledger_file
from pi_budgets.reservations import Reservations

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_budgets.reservations import Reservation

__all__ = ["Shared", "shared_in"]

T = TypeVar("T")


class Shared:
    """The ledger and the reservations of an agent directory.

    Args:
        agent_dir: The agent directory.

    Attributes:
        ledger: Its state when it was last read.
        reservations: The reservations of all processes.
    """

    def __init__(self, agent_dir: str) -> None:
        file = ledger_file(agent_dir)
        self.ledger = Ledger(file)
        self.reservations = Reservations(os.path.join(os.path.dirname(file), "reservations.sqlite"))
        self._lock = threading.Lock()

    def reserve(self, new: Reservation, decide: Callable[[Ledger, Sequence[Reservation]], T | None]) -> T | None:
        """Reserve a request, unless ``decide`` returns something, which is returned.

        Args:
            new: The reservation.
            decide: Called with the current ledger and the reservations of other requests.

        Raises:
            OSError: The ledger or the reservations cannot be read or written.
        """
        self.read()  # all but the latest lines, before others have to wait for the lock
        with self._lock, self.reservations.changing() as connection:
            others = [each for each in self.reservations.others(connection) if each.id != new.id]
            self.ledger.refresh()
            answer = decide(self.ledger, others)
            if answer is None:
                self.reservations.add(connection, new)
            return answer

    def read(self) -> Ledger:
        """Return the current ledger.

        Raises:
            OSError: It cannot be read.
        """
        with self._lock:
            self.ledger.refresh()
        return self.ledger


@cache
def shared_in(agent_dir: str) -> Shared:
    """Return what the processes of an agent directory share; one per process, because the ledger is read once."""
    return Shared(agent_dir)
