"""The conversation as a tree of entries. Appending makes a child of the leaf and moves the leaf there."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from pi_hookspecs import (
    CustomEntry,
    CustomMessage,
    CustomMessageEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionHeader,
    ThinkingLevelChangeEntry,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_hookspecs import AgentMessage, SessionEntry

__all__ = ["ReadOnlySession", "SessionManager"]

_E = TypeVar("_E", bound="SessionEntry")
_ID_TRIES = 100


class SessionManager:
    """A session's entries and the place where the next one goes (pi.md 7.2). Make one with ``in_memory``."""

    def __init__(self, header: SessionHeader) -> None:
        self.header = header
        self.file: Path | None = None
        self.leaf_id: str | None = None
        self._entries: list[SessionEntry] = []
        self._by_id: dict[str, SessionEntry] = {}

    @classmethod
    def in_memory(cls, cwd: str) -> SessionManager:
        """Return a session that is stored nowhere."""
        return cls(SessionHeader(id=str(uuid.uuid4()), timestamp=_timestamp(), cwd=cwd))

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    def append_message(self, message: AgentMessage) -> str:
        """Append a message; a plugin's message gets the entry of its own. Returns the entry's id."""
        if isinstance(message, CustomMessage):
            return self._append(
                CustomMessageEntry,
                custom_type=message.custom_type,
                content=message.content,
                display=message.display,
                details=message.details,
            )
        return self._append(MessageEntry, message=message)

    def append_custom_entry(self, custom_type: str, data: Any = None) -> str:
        """Append a plugin's data, outside the model's context."""
        return self._append(CustomEntry, custom_type=custom_type, data=data)

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Note that another model answers from here on."""
        return self._append(ModelChangeEntry, provider=provider, model_id=model_id)

    def append_thinking_level_change(self, level: str) -> str:
        """Note that the model thinks more or less from here on."""
        return self._append(ThinkingLevelChangeEntry, thinking_level=level)

    def entries(self) -> Sequence[SessionEntry]:
        """All entries of all branches, oldest first."""
        return tuple(self._entries)

    def entry(self, entry_id: str) -> SessionEntry | None:
        """The entry with this id."""
        return self._by_id.get(entry_id)

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """The entries from the root to an entry, or to the leaf."""
        path: list[SessionEntry] = []
        next_id = from_id or self.leaf_id
        while next_id is not None and (entry := self._by_id.get(next_id)) is not None:
            path.append(entry)
            next_id = entry.parent_id
        return tuple(reversed(path))

    def _append(self, make: Callable[..., _E], **fields: Any) -> str:
        entry = make(id=self._new_id(), parent_id=self.leaf_id, timestamp=_timestamp(), **fields)
        self._entries.append(entry)
        self._by_id[entry.id] = entry
        self.leaf_id = entry.id
        return entry.id

    def _new_id(self) -> str:
        """Return 8 hex digits that no entry has; a full UUID when a hundred tries collide (pi.md 7.2)."""
        for _ in range(_ID_TRIES):
            short = uuid.uuid4().hex[:8]
            if short not in self._by_id:
                return short
        return str(uuid.uuid4())


class ReadOnlySession:
    """The session as plugins see it."""

    def __init__(self, session: SessionManager) -> None:
        self._session = session

    @property
    def id(self) -> str:
        """The session's id."""
        return self._session.id

    @property
    def file(self) -> Path | None:
        """Where it is stored; None in memory."""
        return self._session.file

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._session.leaf_id

    def entries(self) -> Sequence[SessionEntry]:
        """All entries of all branches, oldest first."""
        return self._session.entries()

    def branch(self, from_id: str | None = None) -> Sequence[SessionEntry]:
        """The entries from the root to the leaf, or to the entry named."""
        return self._session.branch(from_id)

    def entry(self, entry_id: str) -> SessionEntry | None:
        """The entry with this id."""
        return self._session.entry(entry_id)


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
