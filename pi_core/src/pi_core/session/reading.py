"""What a session manager answers: its header, its entries, the tree, and what the branch tells the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.session.context import BranchContext
from pi_core.session.instructions import BranchRecords, is_record, is_record_at
from pi_core.session.nodes import Names, roots
from pi_core.session.tree import DAMAGED, NO_ENTRY, Entries, SessionTree
from pi_core.session.writer import SessionWriter
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.context import Projected
    from pi_core.session.instructions import Instructions
    from pi_core.session.nodes import TreeNode
    from pi_core.session.stats import SessionStats, StatsCounter
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import AgentMessage, SessionContext, SessionEntry, SessionHeader, StoredSession, ToolCall

__all__ = ["SessionReads"]


class SessionReads:
    """A session's state, and every question about it.

    Attributes:
        header: What the session says of itself.
        notices: What the user should know of it, in whole sentences: damage, another process, what cannot be stored.
        on_problem: Told of each further notice as it comes.
        on_append: Told of each entry that is appended.
    """

    header: SessionHeader

    def __init__(self, chosen: ChosenStore, stored: StoredSession, *, begun: bool = False) -> None:
        self.notices: list[str] = []
        self.on_problem: Callable[[str], None] | None = None
        self.on_append: Callable[[SessionEntry], None] | None = None
        self._chosen = chosen
        self._use(stored, begun=begun)

    def _use(self, stored: StoredSession, *, begun: bool, waiting: Sequence[SessionEntry] = ()) -> None:
        """Make another stored session the one that this object is about."""
        self.header = stored.header
        self._tree = SessionTree(stored.entries)
        for entry in waiting:
            self._tree.append(entry)
        self._names = Names(self._tree)
        self._context = BranchContext(self._tree, self.header)
        self._records = BranchRecords(self._tree)
        self._stats: StatsCounter | None = None
        self._writer = SessionWriter(stored, self.notice, begun=begun, waiting=waiting)
        if self._tree.repeated_ids:
            count = self._tree.repeated_ids
            self.notice(
                f"Session {self._writer.place} has {count} {'entry' if count == 1 else 'entries'} with an id that a "
                "later entry has too; the later one is meant. `pi sessions fsck` tells which."
            )

    def notice(self, message: str) -> None:
        """Tell the user something about the session, in whole sentences."""
        self.notices.append(message)
        if self.on_problem is not None:
            self.on_problem(message)

    # What it is

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def file(self) -> Path | None:
        """The session's file, which may not be made yet; None where it has none."""
        return self._writer.stored.file

    @property
    def reference(self) -> str:
        """What ``open`` takes to find the session again."""
        return self._writer.stored.reference

    @property
    def session_dir(self) -> Path | None:
        """The folder of the session's file, or of the sessions to come; None where there is none."""
        return self.file.parent if self.file is not None else self._chosen.place.session_dir

    @property
    def cwd(self) -> str:
        """The working directory that the session belongs to."""
        return self.header.cwd

    @property
    def name(self) -> str | None:
        """What the user calls the session: the latest name counts."""
        return self._names.name

    @property
    def is_persisted(self) -> bool:
        """Whether the session outlives the program, once an answer has come."""
        return not self._chosen.in_memory

    @property
    def plugin_host(self) -> PluginHost | None:
        """The plugins that the session was made with; None for one in memory."""
        return self._chosen.host

    @property
    def is_saved(self) -> bool:
        """Whether the session is stored now, and all of it."""
        return self.is_persisted and self._writer.begun and not self._writer.waiting

    # Entries

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self._tree.id(self._tree.leaf)

    def get_leaf_entry(self) -> SessionEntry | None:
        """Return the entry that the next one will follow."""
        return None if self._tree.leaf == NO_ENTRY else self._tree.entry(self._tree.leaf)

    def get_entry(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None when there is none."""
        number = self._tree.number(entry_id)
        return None if number == NO_ENTRY else self._tree.entry(number)

    def get_entries(self) -> Entries:
        """Return all entries of all branches, oldest first; each is parsed when it is looked at."""
        return self._tree.entries()

    def get_branch(self, from_id: str | None = None, *, records: bool = True) -> Entries:
        """Return the entries from the root to an entry, or to the leaf; none for an id that no entry has.

        Args:
            from_id: The entry that it ends with; the leaf when None.
            records: Whether records of what the model was told (``SystemMessage.is_record``) are among them.
        """
        if records:
            return self._tree.branch(None if from_id is None else self._tree.number(from_id))
        if from_id is None or from_id == self.leaf_id:
            numbers = self._records.others()
        else:
            path = self._tree.path_to(self._tree.number(from_id))
            numbers = [number for number in path if not is_record_at(self._tree, number)]
        return Entries(self._tree, numbers, len(numbers))

    def get_children(self, parent_id: str | None) -> list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; of None, the roots."""
        number = NO_ENTRY if parent_id is None else self._tree.number(parent_id)
        if parent_id is not None and number == NO_ENTRY:
            return []
        return [self._tree.entry(child) for child in self._tree.children(number)]

    def get_tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is one."""
        return roots(self._tree, self._names)

    def get_label(self, entry_id: str) -> str | None:
        """Return what the user calls an entry."""
        return self._names.label(entry_id)

    # What the model is told

    def build_session_context(self, leaf_id: str | None = None) -> SessionContext:
        """Return what the branch tells the model; kept as the branch grows, not built again.

        Args:
            leaf_id: The end of the branch; the leaf when None.

        Raises:
            UserError: There is no such entry.
        """
        return self._context.get(None if leaf_id is None else self._number(leaf_id))

    def conversation(self) -> list[AgentMessage]:
        """Return the messages of the context, all parsed now, without what turned out to be damaged, or a record."""
        messages = self.build_session_context().messages
        return [message for message in messages if message.role != DAMAGED and not is_record(message)]

    def build_session_projection(self) -> list[Projected]:
        """Return the messages of the context, each with the entry that it comes from."""
        return self._context.projection()

    def recorded_instructions(self) -> Instructions:
        """Return what the branch records of what the model was told besides the conversation: prompt and tools."""
        return self._records.instructions()

    def interrupted_tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last answer that have no result, while nothing runs: the process died meanwhile.

        They are never run again. A front end shows them as interrupted; the provider is told so in place of the
        result that is missing, by the conversion of messages.
        """
        return self._context.interrupted_calls()

    def stats(self) -> SessionStats:
        """Return counts, tokens and cost of the whole session, all branches together."""
        from pi_core.session.stats import StatsCounter

        if self._stats is None:
            self._stats = StatsCounter(self._tree)
        return self._stats.count(self.id, self.file)

    # Further names of the above, as pi of Node has them

    def get_session_id(self) -> str:
        """Return ``id``."""
        return self.id

    def get_session_file(self) -> Path | None:
        """Return ``file``."""
        return self.file

    def get_session_dir(self) -> Path | None:
        """Return ``session_dir``."""
        return self.session_dir

    def get_session_name(self) -> str | None:
        """Return ``name``."""
        return self.name

    def get_cwd(self) -> str:
        """Return ``cwd``."""
        return self.cwd

    def get_header(self) -> SessionHeader:
        """Return ``header``."""
        return self.header

    def get_leaf_id(self) -> str | None:
        """Return ``leaf_id``."""
        return self.leaf_id

    def get_current_branch(self) -> Entries:
        """Return the entries of the branch."""
        return self.get_branch()

    entries = get_entries
    entry = get_entry

    def _number(self, entry_id: str) -> int:
        """Return the number of an entry.

        Raises:
            UserError: There is none with this id.
        """
        number = self._tree.number(entry_id)
        if number == NO_ENTRY:
            raise UserError(f"Entry ID not found: {entry_id!r}")
        return number
