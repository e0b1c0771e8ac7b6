"""What a session manager adds: one method for each type of entry, and where the next entry goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

import pi_hookspecs  # its rare entries are loaded when one is made
from pi_core.session.ids import milliseconds, new_entry_id, timestamp
from pi_core.session.reading import SessionReads
from pi_core.session.tree import NO_ENTRY
from pi_hookspecs.entries import MessageEntry, ModelChangeEntry, ThinkingLevelChangeEntry
from pi_hookspecs.errors import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import AgentMessage, Content, SessionEntry, Usage
    from pi_hookspecs.messages import UserContent

__all__ = ["SessionAppends"]

_E = TypeVar("_E", bound="SessionEntry")


class SessionAppends(SessionReads):
    """Appends to a session. Every method that appends returns the id of the new entry, which is the leaf then."""

    def append_message(self, message: AgentMessage) -> str:
        """Append a message; a plugin's message gets the entry of its own kind.

        Raises:
            PiError: It is a summary, which has a method of its own.
        """
        if message.role == "compactionSummary":
            raise PiError("A compaction's summary is no message of the session: append it with append_compaction.")
        if message.role == "branchSummary":
            raise PiError("A branch's summary is no message of the session: append it with branch_with_summary.")
        if message.role == "custom" and isinstance(message, pi_hookspecs.CustomMessage):
            return self.append_custom_message_entry(
                message.custom_type, message.content, display=message.display, details=message.details
            )
        return self._append(MessageEntry, message=message)

    def append_custom_message_entry(
        self, custom_type: str, content: str | Sequence[UserContent], *, display: bool = True, details: Any = None
    ) -> str:
        """Append a plugin's message, which the model sees."""
        kept = content if isinstance(content, str) else tuple(content)
        return self._append(
            pi_hookspecs.CustomMessageEntry, custom_type=custom_type, content=kept, display=display, details=details
        )

    def append_custom_entry(self, custom_type: str, data: Any = None) -> str:
        """Append a plugin's data, outside the model's context."""
        return self._append(pi_hookspecs.CustomEntry, custom_type=custom_type, data=data)

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Note that another model answers from here on."""
        return self._append(ModelChangeEntry, provider=provider, model_id=model_id)

    def append_thinking_level_change(self, thinking_level: str) -> str:
        """Note that the model thinks more or less from here on."""
        return self._append(ThinkingLevelChangeEntry, thinking_level=thinking_level)

    def append_compaction(
        self,
        summary: str,
        first_kept_entry_id: str,
        tokens_before: int,
        details: Any = None,
        *,
        from_hook: bool | None = None,
        usage: Usage | None = None,
    ) -> str:
        """Let a summary stand for everything before an entry of the branch.

        What the branch records of prompt and tools goes along: the records before it do not count any more.
        """
        from pi_core.wire.converter import to_wire

        record = self.recorded_instructions().as_record(milliseconds(timestamp()))
        return self._append(
            pi_hookspecs.CompactionEntry,
            system_message=None if record is None else to_wire(record),
            summary=summary,
            first_kept_entry_id=first_kept_entry_id,
            tokens_before=tokens_before,
            details=details,
            from_hook=from_hook,
            usage=usage,
        )

    def append_session_info(self, name: str | None) -> str:
        """Name the session; an empty name takes the name away."""
        return self._append(pi_hookspecs.SessionInfoEntry, name=(name or "").strip())

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Name an entry; without a label its name is taken away.

        Raises:
            UserError: There is no such entry.
        """
        self._number(target_id)
        return self._append(pi_hookspecs.LabelEntry, target_id=target_id, label=label or None)

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, note: str | None = None) -> str:
        """Count a request outside the conversation; ``kind`` says what it was for."""
        return self._append(pi_hookspecs.UsageEntry, kind=kind, provider=provider, model=model, usage=usage, note=note)

    def append_context_edit(self, target_id: str, replacement: str | Sequence[Content] | None) -> str:
        """Show the model another content of an entry from here on, or with None none of it.

        Raises:
            UserError: There is no such entry.
        """
        self._number(target_id)
        told = replacement if replacement is None or isinstance(replacement, str) else tuple(replacement)
        edited = pi_hookspecs.EditedContent(told) if told is not None else None
        return self._append(pi_hookspecs.ContextEditEntry, target_id=target_id, replacement=edited)

    def append_entry(self, entry: SessionEntry) -> str:
        """Append a copy of an entry, with an id, a parent and a time of its own."""
        return self._add(evolve(entry, id=new_entry_id(self._tree), parent_id=self.leaf_id, timestamp=timestamp()))

    # Where the next entry goes

    def branch(self, entry_id: str) -> None:
        """Let the next entry follow an earlier one; nothing is changed or forgotten.

        Raises:
            UserError: There is no such entry.
        """
        self._tree.move(self._number(entry_id))

    navigate_to = branch

    def reset_leaf(self) -> None:
        """Let the next entry be a new root."""
        self._tree.move(NO_ENTRY)

    def branch_with_summary(
        self,
        branch_from_id: str | None,
        summary: str,
        details: Any = None,
        *,
        from_hook: bool | None = None,
        usage: Usage | None = None,
    ) -> str:
        """Go on from an earlier entry, or from the very beginning, and tell what the branch left behind was about.

        Raises:
            UserError: There is no such entry.
        """
        target = NO_ENTRY if branch_from_id is None else self._number(branch_from_id)
        left = self.leaf_id
        self._tree.move(target)
        return self._append(
            pi_hookspecs.BranchSummaryEntry,
            from_id=left or "root",
            summary=summary,
            details=details,
            from_hook=from_hook,
            usage=usage,
        )

    # Storing

    def sync(self) -> None:
        """End a turn: store what waits, and force it to the disk if the setting ``sessionSync`` is ``turn``."""
        if self._chosen.place.sync == "turn":
            self._writer.sync()
        elif self._writer.begun:
            self._writer.flush()

    def close(self) -> None:
        """Store what waits, if it can be, and let go of the session."""
        self._writer.close()

    def begin_storing(self) -> None:
        """Store what waits and what is added from now on, though no answer has come."""
        self._writer.begin()

    def stop_storing(self) -> None:
        """Store nothing any more and leave the store alone: this process is a copy of the one that has the session."""
        self._writer.stop()

    def _append(self, make: Callable[..., _E], **fields: Any) -> str:
        entry = make(id=new_entry_id(self._tree), parent_id=self.leaf_id, timestamp=timestamp(), **fields)
        return self._add(entry)

    def _add(self, entry: SessionEntry) -> str:
        before = self._tree.leaf
        number = self._tree.append(entry)
        self._context.appended(number, entry, before)
        self._records.appended(number, entry, before)
        self._names.noted(entry)
        self._writer.add(entry)
        if self.on_append is not None:
            self.on_append(entry)
        return entry.id
