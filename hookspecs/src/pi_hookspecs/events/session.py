"""Events of a session's life."""

from __future__ import annotations

from typing import ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

__all__ = [
    "SessionShutdownEvent",
    "SessionStartEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class SessionStartEvent(ReprMixin):
    """A session begins or is loaded."""

    type: ClassVar[Literal["session_start"]] = "session_start"
    on_wire: ClassVar[bool] = False
    reason: Literal["startup", "reload", "new", "resume", "fork"] = "startup"
    previous_session_file: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class SessionShutdownEvent(ReprMixin):
    """A session ends, or another one replaces it."""

    type: ClassVar[Literal["session_shutdown"]] = "session_shutdown"
    reason: Literal["quit", "reload", "new", "resume", "fork"] = "quit"
    target_session_file: str | None = None
