"""Events about the sessions that plugins create for tasks, emitted in the session that the task belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from pi_hookspecs.stored_sessions import ChildSession

__all__ = ["ChildSessionEndEvent", "ChildSessionStartEvent", "ChildSessionUpdateEvent"]


@frozen(kw_only=True, eq=False, repr=False)
class ChildSessionStartEvent(ReprMixin):
    """A child session has started."""

    type: ClassVar[Literal["child_session_start"]] = "child_session_start"
    child: ChildSession


@frozen(kw_only=True, eq=False, repr=False)
class ChildSessionUpdateEvent(ReprMixin):
    """A child session has received another answer, and its usage has grown."""

    type: ClassVar[Literal["child_session_update"]] = "child_session_update"
    child: ChildSession


@frozen(kw_only=True, eq=False, repr=False)
class ChildSessionEndEvent(ReprMixin):
    """A child session has ended; ``child.status`` says how."""

    type: ClassVar[Literal["child_session_end"]] = "child_session_end"
    child: ChildSession
