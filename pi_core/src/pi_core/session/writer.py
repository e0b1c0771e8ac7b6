"""When a session's entries go to its store, and what happens when they cannot.

Nothing is stored before the first answer, so that an abandoned session leaves no file. Then all entries go in one
append, and from there on each by itself. What could not be stored waits in memory, in order, for the next append.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import SessionEntry, StoredSession

__all__ = ["SessionWriter"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class SessionWriter:
    """Stores the entries of one session.

    Args:
        stored: Where they are stored.
        report: Called, with whole sentences, when storing fails and when it works again.
        begun: Whether the session is stored already.
        waiting: Entries that are not.

    Attributes:
        begun: Whether an answer has come, so that entries are stored.
        waiting: Entries that are not stored yet.
    """

    def __init__(
        self,
        stored: StoredSession,
        report: Callable[[str], None],
        *,
        begun: bool,
        waiting: Sequence[SessionEntry] = (),
    ) -> None:
        self.stored = stored
        self.begun = begun
        self.waiting = list(waiting)
        self._report = report
        self._stopped = False
        self._failing: int | None = None
        self._notices_reported = 0
        self._pass_notices_on()

    def add(self, entry: SessionEntry) -> None:
        """Store an entry, or let it wait; never raises for a store that fails."""
        self.waiting.append(entry)
        if self.begun or _is_answer(entry):
            self.begin()

    def begin(self) -> None:
        """Store what waits, and from now on each entry, though no answer has come."""
        self.begun = True
        self.flush()

    def flush(self) -> bool:
        """Store what waits; returns whether nothing waits any more."""
        if not self.waiting:
            return True
        if self._stopped:
            return False
        try:
            self.stored.append(tuple(self.waiting))
        except Exception as error:  # noqa: BLE001 - a store is a plugin; the run goes on whatever it raises
            self._failed(error)
            return False
        self.waiting.clear()
        self._pass_notices_on()
        if self._failing is not None:
            self._failing = None
            self._report(f"Session {self.place} is stored again; nothing is missing.")
        return True

    def sync(self) -> None:
        """Force what is stored to the disk; never raises for a store that fails."""
        if self._stopped or not self.begun or not self.flush():
            return
        try:
            self.stored.sync()
        except Exception as error:  # noqa: BLE001 - as above
            self._report(f"Session {self.place} could not be forced to the disk: {_reason(error)}.")

    def close(self) -> None:
        """Try once more to store what waits, and close the stored session."""
        if self._stopped:
            return
        if self.begun and not self.flush():
            missing = "1 entry is" if len(self.waiting) == 1 else f"{len(self.waiting)} entries are"
            self._report(f"Session {self.place} ends without what could not be written: {missing} lost.")
        try:
            self.stored.close()
        except Exception as error:  # noqa: BLE001 - as above
            self._report(f"Session {self.place} could not be closed: {_reason(error)}.")

    def stop(self) -> None:
        """Store nothing any more and leave the store alone: this process is a copy of the one that has the session."""
        self._stopped = True

    @property
    def place(self) -> str:
        """The session's name in messages."""
        return repr(str(self.stored.file or self.stored.reference))

    def _pass_notices_on(self) -> None:
        """Report what the store found since; it notices another process only when it makes the file."""
        notices = self.stored.notices
        for notice in notices[self._notices_reported :]:
            self._report(notice)
        self._notices_reported = len(notices)

    def _failed(self, error: Exception) -> None:
        """Report a failure: the first of a row, and each that differs from the one before."""
        number = (error.errno if isinstance(error, OSError) else None) or 0
        if number == self._failing:
            return
        self._failing = number
        waiting = "1 entry waits" if len(self.waiting) == 1 else f"{len(self.waiting)} entries wait"
        self._report(
            f"Session {self.place} cannot be written: {_reason(error)}. The conversation goes on in memory only; "
            f"{waiting} and will be stored with the next one that can be. {_advice(number)}"
        )


def _is_answer(entry: SessionEntry) -> bool:
    return isinstance(entry, MessageEntry) and isinstance(entry.message, AssistantMessage)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.strerror} (errno {error.errno})"
    return f"{type(error).__name__}: {error}"


def _advice(number: int) -> str:
    if number in _FULL:
        return "Free some space on that disk, or export the session to another one."
    if number in _FORBIDDEN:
        return "Make it writable, or choose another folder with --session-dir."
    return "Check the disk, or export the session to another one."
