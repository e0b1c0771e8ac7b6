"""Why a dialog returned without an answer of a person, so that what the model is told about it is true."""

from __future__ import annotations

from contextvars import ContextVar

__all__ = ["mark_unanswered", "unanswered_reason"]

_reason: ContextVar[str | None] = ContextVar("unanswered_reason", default=None)


def unanswered_reason() -> str | None:
    """Return why nobody answered the last dialog that this task awaited.

    A dialog returns False or None both when a person refuses and when nobody answers. What is reported of it should
    tell the two apart: ``f"{unanswered_reason() or 'the user refused'}."``

    Returns:
        A clause without a full stop, such as ``nobody answered within 24 hours``. None if a person answered or
        dismissed the dialog, or if the front end does not know.
    """
    return _reason.get()


def mark_unanswered(reason: str | None) -> None:
    """State why nobody answered a dialog: called by a front end in the task that awaits it, before it returns.

    Args:
        reason: A clause without a full stop; None states that a person answered.
    """
    _reason.set(reason)
