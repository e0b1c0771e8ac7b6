"""The conversation as a tree of entries, what it tells the model, and its way into a store.

``tree`` knows which entry follows which, ``context`` what the model is told, ``writer`` when entries are stored, and
``SessionManager`` is all of them together.
"""

from __future__ import annotations

from pi_core.session.manager import SessionManager
from pi_core.session.view import ReadOnlySession

__all__ = ["ReadOnlySession", "SessionManager"]
