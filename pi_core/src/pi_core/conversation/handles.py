"""Retires ``pi`` and ``ctx`` when they become stale: the parts inside them are replaced by a stub that raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NoReturn
from weakref import WeakSet

from pi_hookspecs import PiError, StaleObject

if TYPE_CHECKING:
    from pi_hookspecs import Deprecated

__all__ = ["ENDED", "RELOADED", "Handle", "Handles", "unbound_parts"]

RELOADED = "This object is from before the plugins were reloaded; use the pi and ctx that activate and hooks get now."
ENDED = "This object belongs to a session that has ended."


class Handle:
    """An object of a session that a plugin can keep. Detecting stale objects costs nothing while they are live.

    Attributes:
        constants: Names of attributes that are copied from the session, because they never change.
    """

    constants: ClassVar[tuple[str, ...]] = ()
    _parts: Any

    def retire(self, reason: str) -> None:
        """Make every further use raise ``StaleObject`` with ``reason`` as its text."""
        self._parts = _Raising(StaleObject, reason)
        for name in self.constants:
            vars(self).pop(name, None)

    def report_use(self, plugin: str, what: str, mark: Deprecated, place: str) -> None:
        """Report, once for each plugin, that it uses a deprecated member, and where."""
        runtime = self._parts.runtime
        noted: set[tuple[str, str]] = runtime.plugins.handles.noted
        if (plugin, what) not in noted:
            noted.add((plugin, what))
            runtime.report_plugin_error(plugin, "deprecated", f"Plugin {plugin!r}: {what} {mark} ({place})")

    if not TYPE_CHECKING:  # type checkers must only see the attributes that a handle declares

        def __getattr__(self, name: str) -> Any:
            """Raise for a missing attribute, or because the object is stale."""
            if name in self.constants:
                return getattr(self._parts, name)  # raises
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)


class Handles:
    """The live handles of one session."""

    def __init__(self) -> None:
        self._all: WeakSet[Handle] = WeakSet()
        self.noted: set[tuple[str, str]] = set()
        """Plugin and member of each use of a deprecated member that was reported."""

    def add(self, handle: Handle) -> None:
        """Add a handle; ``retire`` will retire it."""
        self._all.add(handle)

    def retire(self, reason: str) -> None:
        """Retire all handles; see ``Handle.retire``."""
        for handle in list(self._all):
            handle.retire(reason)
        self._all.clear()


def unbound_parts() -> Any:
    """Return a placeholder for the parts of a session while ``activate`` runs; using it raises."""
    return _Raising(
        PiError,
        "A plugin can only register things while activate runs; do this in a handler,"
        " such as one of session_start: pi.on('session_start', ...).",
    )


class _Raising:
    """A placeholder for the parts of a session: reading any attribute raises."""

    def __init__(self, error: type[PiError], message: str) -> None:
        self.__dict__["_error"] = error, message

    def __getattr__(self, name: str) -> NoReturn:
        error, message = self.__dict__["_error"]
        raise error(message)
