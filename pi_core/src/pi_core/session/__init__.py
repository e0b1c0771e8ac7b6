"""The conversation as a tree of entries, what the model is sent of it, and when it is stored.

``tree`` knows which entry follows which, ``context`` what the model is sent, and ``writer`` when entries are stored. A
``OpenSession`` is one session made of these three; a ``SessionManager`` has the one that is open, and its store.
"""

from __future__ import annotations

from pi_core.session.manager import SessionManager
from pi_core.session.view import ReadOnlySession

__all__ = ["ReadOnlySession", "SessionManager"]
