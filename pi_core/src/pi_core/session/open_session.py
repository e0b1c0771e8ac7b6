"""``OpenSession``: what is read from a session and appended to it, with the parts that it is made of.

Each entry that is appended goes through all parts in order: tree, context, records, labels, writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

import pi_hookspecs  # loads the classes of rare entries on first use
from pi_core.session.append_hook import AppendHook
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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.context import Projected
    from pi_core.session.instructions import Instructions
    from pi_core.session.nodes import TreeNode
    from pi_core.session.stats import SessionStats, StatsCounter
    from pi_core.session.stores import ChosenStore
    from pi_core.session.tree import Entries
    from pi_hookspecs import AgentMessage, Content, SessionEntry, StoredSession, ToolCall, Usage
    from pi_hookspecs.messages import UserContent
    from pi_hookspecs.session_context import ModelChoice, SessionContext

__all__ = ["OpenSession"]

_E = TypeVar("_E", bound="SessionEntry")


class OpenSession:
    """A session that is or will be stored. Methods that append return the id of the new entry, which is the new leaf.

    Args:
        chosen: The store of the session, and the plugins that supply it.
        stored: The stored session, to which entries are appended.
        begun: Whether the session is stored already.
        waiting: Entries that are not stored yet, oldest first; they follow the entries of ``stored``.
        notices: The first notices.

    Attributes:
        header: The session's id, time and working directory.
        tree: The tree of entries; another object for each session that is opened here.
        context: The model's context of the branch.
        records: The system prompt and tools that the branch has recorded.
        names: Labels of entries and the name of the session.
        writer: Stores entries.
        notices: Notices for the user, in full sentences: damage, another process, entries that cannot be stored.
        on_problem: Called with each new notice.
        on_append: Called with each entry that is appended.
        append_hook: Lets plugins change entries before they are stored; a conversation connects it.
    """

    def __init__(
        self,
        chosen: ChosenStore,
        stored: StoredSession,
        *,
        begun: bool = False,
        waiting: Sequence[SessionEntry] = (),
        notices: Sequence[str] = (),
    ) -> None:
        self.notices: list[str] = []
        self.on_problem: Callable[[str], None] | None = None
        self.on_append: Callable[[SessionEntry], None] | None = None
        self.append_hook = AppendHook()
        self._chosen = chosen
        self._take(stored, begun=begun, waiting=waiting)
        self.notices += notices

    def _take(self, stored: StoredSession, *, begun: bool, waiting: Sequence[SessionEntry] = ()) -> None:
        """Make the parts for a stored session."""
        tree = SessionTree(stored.entries)
        for entry in waiting:
            tree.append(entry)
        self.header, self.tree = stored.header, tree
        self.context = BranchContext(tree, stored.header)
        self.records = BranchRecords(tree)
        self.names = Names(tree)
        self.writer = SessionWriter(
            stored,
            self.notice,
            hook=None if self._chosen.in_memory else self.append_hook,
            begun=begun,
            waiting=waiting,
            plugin=getattr(self._chosen.store, "plugin", "(program)"),
        )
        self._stats: StatsCounter | None = None
        if count := tree.repeated_ids:
            self.notice(
                f"Session {self.writer.place} has {count} {'entry' if count == 1 else 'entries'} with an id that a "
                "later entry has too; the later one is used. `pi sessions fsck` lists them."
            )
        if count := tree.missing_parents:
            self.notice(
                f"Session {self.writer.place} has {count} {'entry' if count == 1 else 'entries'} whose parent is not in"
                " the file; what came before it is not part of the conversation. `pi sessions fsck` lists them."
            )

    def notice(self, message: str) -> None:
        """Add a notice for the user, in full sentences."""
        self.notices.append(message)
        if self.on_problem is not None:
            self.on_problem(message)

    # Properties

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def cwd(self) -> str:
        """The working directory that the session belongs to."""
        return self.header.cwd

    @property
    def name(self) -> str | None:
        """The latest name that the user gave the session, if any."""
        return self.names.name

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self.tree.id(self.tree.leaf)

    @property
    def file(self) -> Path | None:
        """The session's file, which may not exist yet; None if it has none."""
        return self.writer.stored.file

    @property
    def reference(self) -> str:
        """The reference with which ``SessionManager.open`` finds the session again."""
        return self.writer.stored.reference

    @property
    def plugin_host(self) -> PluginHost | None:
        """The plugins that the session was created with; None for one in memory."""
        return self._chosen.host

    @property
    def is_persisted(self) -> bool:
        """Whether the session is stored, beginning with the first prompt."""
        return not self._chosen.in_memory

    @property
    def is_saved(self) -> bool:
        """Whether all entries of the session are stored now."""
        return self.is_persisted and self.writer.begun and not self.writer.waiting

    # Reading

    def entry(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None if there is none."""
        return self.tree.get(entry_id)

    get_entry = entry

    def entries(self) -> Entries:
        """Return a snapshot of all entries, oldest first."""
        return self.tree.entries()

    get_entries = entries

    def get_children(self, parent_id: str | None) -> list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; for None, the roots."""
        return self.tree.get_children(parent_id)

    def get_leaf_entry(self) -> SessionEntry | None:
        """Return the leaf entry; None if the next entry will be a root."""
        return self.tree.leaf_entry()

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

    get_current_branch = get_branch

    def get_tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is a root."""
        return roots(self.tree, self.names)

    def get_label(self, entry_id: str) -> str | None:
        """Return an entry's label; None if it has none."""
        return self.names.label(entry_id)

    def build_session_context(self, leaf_id: str | None = None) -> SessionContext:
        """Return the context of the branch; it is updated as the branch grows, not rebuilt.

        Args:
            leaf_id: The end of the branch; None uses the leaf.

        Raises:
            UserError: There is no such entry.
        """
        return self.context.get(leaf_id)

    def build_session_projection(self) -> list[Projected]:
        """Return the messages of the context, each with its entry."""
        return self.context.projection()

    def interrupted_tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last answer without a result; while idle this means that the process was killed.

        They are never run again. A front end marks them as interrupted; the conversion of messages adds a placeholder
        for each missing result.
        """
        return self.context.interrupted_calls()

    def selected_model(self) -> ModelChoice | None:
        """Return the model that was selected last on the branch; for a virtual model, no answer names it."""
        return self.context.selected_model()

    def last_answer(self) -> AssistantMessage | None:
        """Return the last successful answer on the branch, compacted or not; None if there is none."""
        return self.context.last_answer()

    def recorded_instructions(self) -> Instructions:
        """Return the recorded prompt and tools; the same object until a record is added or the leaf moves."""
        return self.records.instructions()

    def conversation(self) -> list[AgentMessage]:
        """Return the messages of the context, all parsed, without damaged messages and records."""
        messages = self.context.get().messages
        return [message for message in messages if message.role != DAMAGED and not is_record(message)]

    def message_lines(self, messages: Iterable[AgentMessage]) -> Iterator[bytes]:
        """Yield messages of the conversation as JSON, without a newline: as they are stored, where that is possible."""
        return self.context.lines(messages)

    def stats(self) -> SessionStats:
        """Return counts, tokens and cost of the whole session, all branches together."""
        from pi_core.session.stats import StatsCounter

        if self._stats is None:
            self._stats = StatsCounter(self.tree)
        return self._stats.count(self.id, self.file)

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

    # Moving the leaf, and storing

    def navigate_to(self, entry_id: str) -> None:
        """Make an earlier entry the leaf, which the next entry follows; no entry is changed or removed.

        Raises:
            UserError: There is no such entry.
        """
        self.tree.move_to(entry_id)

    branch = navigate_to

    def reset_leaf(self) -> None:
        """Move the leaf before the first entry, so that the next entry is a new root."""
        self.tree.move_to_start()

    def begin_storing(self) -> None:
        """Store the waiting entries, and from now on each entry, even without an answer."""
        self.writer.begin()

    def stop_storing(self) -> None:
        """Stop storing and using the store, in a forked child of the process that owns the session."""
        self.writer.stop()

    def sync(self) -> None:
        """End a turn: store waiting entries, and sync them to disk if the setting ``sessionSync`` is ``turn``."""
        if self._chosen.place.sync == "turn":
            self.writer.sync()
        elif self.writer.begun:
            self.writer.flush()

    def close(self) -> None:
        """Try once more to store the waiting entries, and close the stored session."""
        self.writer.close()

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
        if self.on_append is not None:
            self.on_append(entry)
        return entry.id
