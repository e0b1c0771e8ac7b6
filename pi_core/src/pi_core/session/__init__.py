"""The conversation as a tree of entries, the context that is sent to the model, and storage.

``tree`` has the order of entries, ``context`` builds the model's context, and ``writer`` stores entries. An
``OpenSession`` is made of these parts; a ``SessionManager`` is one that can be replaced by another session.
"""

from __future__ import annotations

from pi_core.session.manager import SessionManager
from pi_core.session.view import ReadOnlySession

__all__ = ["ReadOnlySession", "SessionManager"]
