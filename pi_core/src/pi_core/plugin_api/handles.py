"""``pi`` and ``ctx`` after their time: what they pass on to is taken out, so that a use of them raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakSet

from pi_hookspecs import PiError, StaleObject

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession

__all__ = ["ENDED", "RELOADED", "Handle", "Handles", "not_yet"]

RELOADED = "This object is from before the plugins were reloaded; use the pi and ctx that activate and hooks get now."
ENDED = "This object belongs to a session that has ended."


class Handle:
    """Something of a session that a plugin holds. Taking the session out costs a live handle nothing."""

    _session: AgentSession

    def retire(self, why: str) -> None:
        """Let every further use raise ``StaleObject``."""
        self._session = _Raising(StaleObject, why)  # type: ignore[assignment]


class Handles:
    """The handles of one session that are in use."""

    def __init__(self) -> None:
        self._all: WeakSet[Handle] = WeakSet()

    def add(self, handle: Handle) -> None:
        """Know of one more."""
        self._all.add(handle)

    def retire(self, why: str) -> None:
        """Retire them all."""
        for handle in list(self._all):
            handle.retire(why)
        self._all.clear()


def not_yet() -> Any:
    """Return what stands in for the session while ``activate`` runs."""
    return _Raising(
        PiError,
        "While activate runs a plugin can only register; do this in a handler,"
        " such as one of session_start: pi.on('session_start', ...).",
    )


class _Raising:
    """In place of a session: whatever is wanted of it raises."""

    def __init__(self, error: type[PiError], message: str) -> None:
        self.__dict__["_error"] = error, message

    def __getattr__(self, name: str) -> NoReturn:
        error, message = self.__dict__["_error"]
        raise error(message)
