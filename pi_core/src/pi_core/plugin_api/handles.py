"""``pi`` and ``ctx`` after their time: the session is taken out of them, so that every further use raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from weakref import WeakSet

from pi_hookspecs import PiError, StaleObject

__all__ = ["ENDED", "RELOADED", "Handle", "Handles", "not_yet"]

RELOADED = "This object is from before the plugins were reloaded; use the pi and ctx that activate and hooks get now."
ENDED = "This object belongs to a session that has ended."


class Handle:
    """An object of a session that a plugin holds. Checking whether it is stale costs a live one nothing.

    Attributes:
        constants: Names of attributes that were copied from the session, because they never change.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    _session: Any

    def retire(self, reason: str) -> None:
        """Let every further use raise ``StaleObject``, with ``reason`` as its text."""
        self._session = _Raising(StaleObject, reason)
        for name in self.constants:
            vars(self).pop(name, None)

    if not TYPE_CHECKING:  # for type checkers a handle has no other attributes than it declares

        def __getattr__(self, name: str) -> Any:
            """Raise for what the object does not have, or not any more."""
            if name in self.constants:
                return getattr(self._session, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


class Handles:
    """The handles of one session that are in use."""

    def __init__(self) -> None:
        self._all: WeakSet[Handle] = WeakSet()

    def add(self, handle: Handle) -> None:
        """Retire this one, too, when the time has come."""
        self._all.add(handle)

    def retire(self, reason: str) -> None:
        """Retire them all, see ``Handle.retire``."""
        for handle in list(self._all):
            handle.retire(reason)
        self._all.clear()


def not_yet() -> Any:
    """Return what takes the session's place while ``activate`` runs."""
    return _Raising(
        PiError,
        "While activate runs a plugin can only register; do this in a handler,"
        " such as one of session_start: pi.on('session_start', ...).",
    )


class _Raising:
    """Takes a session's place: reading any attribute raises."""

    def __init__(self, error: type[PiError], message: str) -> None:
        self.__dict__["_error"] = error, message

    def __getattr__(self, name: str) -> NoReturn:
        error, message = self.__dict__["_error"]
        raise error(message)
