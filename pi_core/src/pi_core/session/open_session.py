"""``OpenSession``: one session, with its tree of entries, the context of its branch, and the writer that stores them.

Each entry that is appended goes through all parts in order: tree, context, records, labels, writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

import pi_hookspecs  # loads the classes of rare entries on first use
from pi_core.session.context import BranchContext
from pi_core.session.ids import milliseconds, new_entry_id, timestamp
from pi_core.session.instructions import BranchRecords, is_record, is_record_at
from pi_core.session.nodes import Names, roots
from pi_core.session.tree import DAMAGED, NO_ENTRY, SessionTree
from pi_core.session.writer import SessionWriter
from pi_hookspecs.entries import MessageEntry, ModelChangeEntry, ThinkingLevelChangeEntry
from pi_hookspecs.errors import PiError
from pi_hookspecs.messages import AssistantMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_core.session.append_hook import AppendHook
    from pi_core.session.nodes import TreeNode
    from pi_core.session.stats import SessionStats, StatsCounter
    from pi_core.session.tree import Entries
    from pi_hookspecs import AgentMessage, Content, SessionEntry, StoredSession, Usage
    from pi_hookspecs.messages import UserContent

__all__ = ["OpenSession"]

_E = TypeVar("_E", bound="SessionEntry")


class OpenSession:
    """A session that is or will be stored. Methods that append return the id of the new entry, which is the new leaf.

    Args:
        stored: The stored session, to which entries are appended.
        report: Called with each notice for the user, in full sentences: damage, another process, a failing store.
        on_append: Called with each entry that is appended.
        append_hook: Lets plugins change entries before they are stored.
        begun: Whether the session is stored already.
        waiting: Entries that are not stored yet, oldest first; they follow the entries of ``stored``.
        plugin: The plugin of the store.

    Attributes:
        header: The session's id, time and working directory.
        tree: The tree of entries.
        context: The model's context of the branch.
        records: The system prompt and tools that the branch has recorded.
        names: Labels of entries and the name of the session.
        writer: Stores entries.
    """

    def __init__(
        self,
        stored: StoredSession,
        *,
        report: Callable[[str], None],
        on_append: Callable[[SessionEntry], None] | None = None,
        append_hook: AppendHook | None = None,
        begun: bool = False,
        waiting: Sequence[SessionEntry] = (),
        plugin: str = "(program)",
    ) -> None:
        self.header = stored.header
        self.tree = SessionTree(stored.entries)
        for entry in waiting:
            self.tree.append(entry)
        self.context = BranchContext(self.tree, self.header)
        self.records = BranchRecords(self.tree)
        self.names = Names(self.tree)
        self.writer = SessionWriter(stored, report, hook=append_hook, begun=begun, waiting=waiting, plugin=plugin)
        self._on_append = on_append
        self._stats: StatsCounter | None = None
        if count := self.tree.repeated_ids:
            report(
                f"Session {self.writer.place} has {count} {'entry' if count == 1 else 'entries'} with an id that a "
                "later entry has too; the later one is used. `pi sessions fsck` lists them."
            )
        if count := self.tree.missing_parents:
            report(
                f"Session {self.writer.place} has {count} {'entry' if count == 1 else 'entries'} whose parent is not in"
                " the file; what came before it is not part of the conversation. `pi sessions fsck` lists them."
            )

    # Reading

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next entry will follow."""
        return self.tree.id(self.tree.leaf)

    def get_branch(self, from_id: str | None = None, *, records: bool = True) -> Entries:
        """Return the entries from the root to an entry, or to the leaf; empty for an unknown id.

        Args:
            from_id: The last entry of the branch; None uses the leaf.
            records: Whether to include records of prompt and tools (``SystemMessage.is_record``).
        """
        if records:
            return self.tree.branch(None if from_id is None else self.tree.number(from_id))
        if from_id is None or from_id == self.leaf_id:
            numbers = self.records.others()
        else:
            path = self.tree.path_to(self.tree.number(from_id))
            numbers = [number for number in path if not is_record_at(self.tree, number)]
        return self.tree.without_records(numbers)

    def get_tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is a root."""
        return roots(self.tree, self.names)

    def conversation(self) -> list[AgentMessage]:
        """Return the messages of the context, all parsed, without damaged messages and records."""
        messages = self.context.get().messages
        return [message for message in messages if message.role != DAMAGED and not is_record(message)]

    def stats(self) -> SessionStats:
        """Return counts, tokens and cost of the whole session, all branches together."""
        from pi_core.session.stats import StatsCounter

        if self._stats is None:
            self._stats = StatsCounter(self.tree)
        return self._stats.count(self.header.id, self.writer.stored.file)

    def holds_answer(self, numbers: Sequence[int]) -> bool:
        """Return whether one of these entries is an answer of the model, reading the newest first."""
        tree = self.tree
        entries = (tree.entry(number) for number in reversed(numbers) if tree.type(number) == "message")
        return any(isinstance(each, MessageEntry) and isinstance(each.message, AssistantMessage) for each in entries)

    def labels_of(self, numbers: Sequence[int]) -> dict[str, str | None]:
        """Return the labels of some entries by their ids; None for an entry without a label."""
        ids = [entry_id for number in numbers if (entry_id := self.tree.id(number)) is not None]
        return {entry_id: self.names.label(entry_id) for entry_id in ids}

    # Appending

    def append_message(self, message: AgentMessage) -> str:
        """Append a message; a plugin's message becomes a custom message entry.

        Raises:
            PiError: The message is a summary, which another method appends.
        """
        if message.role == "compactionSummary":
            raise PiError("A compaction's summary is not a message of the session: append it with append_compaction.")
        if message.role == "branchSummary":
            raise PiError("A branch's summary is not a message of the session: append it with branch_with_summary.")
        if message.role == "custom" and isinstance(message, pi_hookspecs.CustomMessage):
            return self.append_custom_message_entry(
                message.custom_type, message.content, display=message.display, details=message.details
            )
        return self._append(MessageEntry, message=message)

    def append_custom_message_entry(
        self, custom_type: str, content: str | Sequence[UserContent], *, display: bool = True, details: Any = None
    ) -> str:
        """Append a plugin's message, which the model sees."""
        frozen = content if isinstance(content, str) else tuple(content)
        return self._append(
            pi_hookspecs.CustomMessageEntry, custom_type=custom_type, content=frozen, display=display, details=details
        )

    def append_custom_entry(self, custom_type: str, data: Any = None) -> str:
        """Append a plugin's data, outside the model's context."""
        return self._append(pi_hookspecs.CustomEntry, custom_type=custom_type, data=data)

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Record a change of the model."""
        return self._append(ModelChangeEntry, provider=provider, model_id=model_id)

    def append_thinking_level_change(self, thinking_level: str) -> str:
        """Record a change of the reasoning effort."""
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
        """Replace everything before an entry of the branch with a summary in the model's context.

        The new entry contains the recorded prompt and tools of the branch, and replaces the records before it.
        """
        from pi_core.wire.converter import to_wire

        record = self.records.instructions().as_record(milliseconds(timestamp()))
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
        """Name the session; an empty name removes the name."""
        return self._append(pi_hookspecs.SessionInfoEntry, name=(name or "").strip())

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Label an entry; None removes its label.

        Raises:
            UserError: There is no such entry.
        """
        self.tree.require(target_id)
        return self._append(pi_hookspecs.LabelEntry, target_id=target_id, label=label or None)

    def set_labels(self, labels: Mapping[str, str | None]) -> None:
        """Append a label change for each entry with a different label."""
        for entry_id, label in labels.items():
            if self.names.label(entry_id) != label:
                self.append_label_change(entry_id, label)

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, note: str | None = None) -> str:
        """Record the usage of a request outside the conversation; ``kind`` is its purpose."""
        return self._append(pi_hookspecs.UsageEntry, kind=kind, provider=provider, model=model, usage=usage, note=note)

    def append_context_edit(self, target_id: str, replacement: str | Sequence[Content] | None) -> str:
        """Replace the content of an entry in the model's context; None removes the entry from it.

        Raises:
            UserError: There is no such entry.
        """
        self.tree.require(target_id)
        content = replacement if replacement is None or isinstance(replacement, str) else tuple(replacement)
        edited = pi_hookspecs.EditedContent(content) if content is not None else None
        return self._append(pi_hookspecs.ContextEditEntry, target_id=target_id, replacement=edited)

    def append_entry(self, entry: SessionEntry) -> str:
        """Append a copy of an entry, with a new id, parent and timestamp."""
        return self._add(evolve(entry, id=new_entry_id(self.tree), parent_id=self.leaf_id, timestamp=timestamp()))

    def branch_with_summary(
        self,
        branch_from_id: str | None,
        summary: str,
        details: Any = None,
        *,
        from_hook: bool | None = None,
        usage: Usage | None = None,
    ) -> str:
        """Continue from an earlier entry, or from the start if None, with a summary of the abandoned branch.

        Raises:
            UserError: There is no such entry.
        """
        target = NO_ENTRY if branch_from_id is None else self.tree.require(branch_from_id)
        left = self.leaf_id
        self.tree.move(target)
        return self._append(
            pi_hookspecs.BranchSummaryEntry,
            from_id=left or "root",
            summary=summary,
            details=details,
            from_hook=from_hook,
            usage=usage,
        )

    def _append(self, make: Callable[..., _E], **fields: Any) -> str:
        entry = make(id=new_entry_id(self.tree), parent_id=self.leaf_id, timestamp=timestamp(), **fields)
        return self._add(entry)

    def _add(self, entry: SessionEntry) -> str:
        before = self.tree.leaf
        number = self.tree.append(entry)
        self.context.appended(number, entry, before)
        self.records.appended(number, entry, before)
        self.names.appended(entry)
        self.writer.add(entry)
        if self._on_append is not None:
            self._on_append(entry)
        return entry.id
