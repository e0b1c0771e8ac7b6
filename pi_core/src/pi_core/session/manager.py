"""``SessionManager``: creates, opens and forks sessions, and switches between them; ``OpenSession`` does the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pi_core.session import lookup
from pi_core.session.append_hook import AppendHook
from pi_core.session.forks import fork_path, fork_stored
from pi_core.session.open_session import OpenSession
from pi_core.session.stores import NoStore, memory_store, resolve_store, store_or_memory
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    import builtins  # the method ``list`` hides the type
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from pi_core.host import PluginHost
    from pi_core.session.context import Projected
    from pi_core.session.instructions import Instructions
    from pi_core.session.nodes import TreeNode
    from pi_core.session.stats import SessionStats
    from pi_core.session.stores import ChosenStore
    from pi_core.session.tree import Entries
    from pi_hookspecs import (
        AgentMessage,
        AssistantMessage,
        Content,
        SessionEntry,
        SessionHeader,
        StoredSession,
        ToolCall,
        Usage,
    )
    from pi_hookspecs.messages import UserContent
    from pi_hookspecs.session_context import ModelChoice, SessionContext

__all__ = ["SessionManager"]


class SessionManager:
    """The open session, as a tree of entries, and its store.

    Create a manager with ``create``, ``open``, ``continue_recent``, ``in_memory``, ``fork_from`` or ``import_jsonl``.

    Args of all factories:
        session_dir: The folder for sessions; None uses ``PI_CODING_AGENT_SESSION_DIR``, else the setting
            ``sessionDir``, else a folder in the agent directory.
        host: The plugins; one of them registers the store of the setting ``sessionStore`` (default ``jsonl``). None
            uses the installed plugins.
        environ: Environment variables; None uses the environment of the process.

    Attributes:
        open_session: The open session and its parts; replaced when the manager switches to another session.
        notices: Notices for the user, in full sentences: damage, another process, entries that cannot be stored.
        on_problem: Called with each new notice.
        on_append: Called with each entry that is appended.
        append_hook: Lets plugins change entries before they are stored; a conversation connects it.
    """

    def __init__(
        self, chosen: ChosenStore, stored: StoredSession, *, begun: bool = False, notices: Sequence[str] = ()
    ) -> None:
        self.notices: list[str] = []
        self.on_problem: Callable[[str], None] | None = None
        self.on_append: Callable[[SessionEntry], None] | None = None
        self.append_hook = AppendHook()
        self._chosen = chosen
        self.open_session = self._open(stored, begun=begun)
        self.notices += notices

    # Creating a manager

    @classmethod
    def create(
        cls,
        cwd: str | Path | None = None,
        session_dir: str | Path | None = None,
        *,
        id: str | None = None,  # noqa: A002 - the contract's name
        parent_session: str | None = None,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a new session; it is stored with the first prompt.

        Without a plugin that stores sessions it is kept in memory, and ``notices`` contains a sentence about that.

        Raises:
            UserError: The id is not valid.
        """
        header = lookup.new_header(cwd, id, parent_session)
        chosen, notices = store_or_memory(cwd, session_dir, host=host, environ=environ)
        return cls(chosen, chosen.store.create(header), notices=notices)

    @classmethod
    def in_memory(cls, cwd: str | Path | None = None, *, id: str | None = None) -> Self:  # noqa: A002 - as above
        """Return a session that is not stored."""
        chosen = memory_store()
        return cls(chosen, chosen.store.create(lookup.new_header(cwd, id)))

    @classmethod
    def open(
        cls,
        path: str | Path,
        session_dir: str | Path | None = None,
        *,
        cwd: str | Path | None = None,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Open the session at a path or another reference of the store; a new session of ``cwd`` if nothing is stored.

        Raises:
            UserError: The file is not a session, or no plugin can read it.
        """
        try:
            chosen = resolve_store(cwd, session_dir, host=host, environ=environ)
        except NoStore as error:
            raise UserError(f"Cannot open session {str(path)!r}. {error}") from error
        stored, begun = lookup.open_or_create(chosen, path, cwd)
        return cls(chosen, stored, begun=begun)

    @classmethod
    def continue_recent(
        cls,
        cwd: str | Path | None = None,
        session_dir: str | Path | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Open the most recent session of a working directory; a new session if there is none.

        If it cannot be opened, ``notices`` names it, and the previous one is opened.
        """
        header = lookup.new_header(cwd)
        chosen, missing = store_or_memory(cwd, session_dir, host=host, environ=environ)
        stored, unreadable = lookup.open_latest(chosen, header.cwd)
        begun = stored is not None
        return cls(chosen, stored or chosen.store.create(header), begun=begun, notices=[*missing, *unreadable])

    @classmethod
    def fork_from(
        cls,
        source_path: str | Path,
        target_cwd: str | Path | None = None,
        session_dir: str | Path | None = None,
        *,
        id: str | None = None,  # noqa: A002 - as above
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Return a copy of a stored session, with all branches, for another working directory.

        Raises:
            UserError: There is nothing to copy, or no plugin can read it.
            OSError: The copy could not be stored.
        """
        header = lookup.new_header(target_cwd, id, str(source_path))
        chosen = resolve_store(target_cwd, session_dir, host=host, environ=environ)
        return cls(chosen, fork_stored(chosen, source_path, header), begun=True)

    @classmethod
    def import_jsonl(
        cls,
        path: str | Path,
        session_dir: str | Path | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Copy a session file into the store and open it; the id and the working directory are kept.

        Raises:
            UserError: It is not a session, a session with its id is stored already, or it cannot be stored.
        """
        from pi_core.session.jsonl import import_jsonl

        chosen = resolve_store(session_dir=session_dir, host=host, environ=environ)
        return cls(chosen, import_jsonl(chosen, path), begun=True)

    # Finding sessions

    list = staticmethod(lookup.list_sessions)
    list_all = staticmethod(lookup.list_all_sessions)
    find = staticmethod(lookup.find_session)
    find_by_id = staticmethod(lookup.find_session_by_id)

    # Properties

    @property
    def header(self) -> SessionHeader:
        """The session's id, time and working directory."""
        return self.open_session.header

    @property
    def id(self) -> str:
        """The session's id."""
        return self.open_session.header.id

    @property
    def cwd(self) -> str:
        """The working directory that the session belongs to."""
        return self.open_session.header.cwd

    @property
    def name(self) -> str | None:
        """The latest name that the user gave the session, if any."""
        return self.open_session.names.name

    @property
    def leaf_id(self) -> str | None:
        """The entry that the next one will follow."""
        return self.open_session.leaf_id

    @property
    def file(self) -> Path | None:
        """The session's file, which may not exist yet; None if it has none."""
        return self.open_session.writer.stored.file

    @property
    def reference(self) -> str:
        """The reference with which ``open`` finds the session again."""
        return self.open_session.writer.stored.reference

    @property
    def plugin_host(self) -> PluginHost | None:
        """The plugins that the session was created with; None for one in memory."""
        return self._chosen.host

    @property
    def session_dir(self) -> Path | None:
        """The folder of the session's file, or of new sessions; None if there is none."""
        return self.file.parent if self.file is not None else self._chosen.place.session_dir

    @property
    def chosen_dir(self) -> Path | None:
        """The folder that an option, a variable or a setting names for sessions; None if there is none."""
        return self._chosen.place.session_dir

    def shared_store(self, host: PluginHost | None = None) -> ChosenStore:
        """Return the store that has the other sessions: this session's, or for a session in memory the settings' store.

        Args:
            host: The plugins, for a session in memory.

        Raises:
            NoStore: No plugin supplies the store.
        """
        if self.is_persisted:
            return self._chosen
        found = resolve_store(self.cwd, host=host)
        return self._chosen if found.in_memory else found

    @property
    def is_persisted(self) -> bool:
        """Whether the session is stored, beginning with the first prompt."""
        return not self._chosen.in_memory

    @property
    def is_saved(self) -> bool:
        """Whether all entries of the session are stored now."""
        return self.is_persisted and self.open_session.writer.begun and not self.open_session.writer.waiting

    # Reading, appending and storing, implemented by the parts

    def entry(self, entry_id: str) -> SessionEntry | None:
        """Return the entry with this id; None if there is none."""
        return self.open_session.tree.get(entry_id)

    get_entry = entry

    def entries(self) -> Entries:
        """Return a snapshot of all entries, oldest first."""
        return self.open_session.tree.entries()

    get_entries = entries

    def get_children(self, parent_id: str | None) -> builtins.list[SessionEntry]:
        """Return the entries that follow an entry, oldest first; for None, the roots."""
        return self.open_session.tree.get_children(parent_id)

    def get_leaf_entry(self) -> SessionEntry | None:
        """Return the leaf entry; None if the next entry will be a root."""
        return self.open_session.tree.leaf_entry()

    def get_current_branch(self, from_id: str | None = None, *, records: bool = True) -> Entries:
        """Return the entries from the root to an entry, or to the leaf; empty for an unknown id.

        Args:
            from_id: The last entry of the branch; None uses the leaf.
            records: Whether to include records of prompt and tools (``SystemMessage.is_record``).
        """
        return self.open_session.get_branch(from_id, records=records)

    get_branch = get_current_branch

    def get_tree(self) -> Sequence[TreeNode]:
        """Return the roots of the tree; an entry whose parent is missing is a root."""
        return self.open_session.get_tree()

    def get_label(self, entry_id: str) -> str | None:
        """Return an entry's label; None if it has none."""
        return self.open_session.names.label(entry_id)

    def stats(self) -> SessionStats:
        """Return counts, tokens and cost of the whole session, all branches together."""
        return self.open_session.stats()

    def build_session_context(self, leaf_id: str | None = None) -> SessionContext:
        """Return the context of the branch; it is updated as the branch grows, not rebuilt.

        Args:
            leaf_id: The end of the branch; None uses the leaf.

        Raises:
            UserError: There is no such entry.
        """
        return self.open_session.context.get(leaf_id)

    def build_session_projection(self) -> builtins.list[Projected]:
        """Return the messages of the context, each with its entry."""
        return self.open_session.context.projection()

    def interrupted_tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls of the last answer without a result; while idle this means that the process was killed.

        They are never run again. A front end marks them as interrupted; the conversion of messages adds a placeholder
        for each missing result.
        """
        return self.open_session.context.interrupted_calls()

    def selected_model(self) -> ModelChoice | None:
        """Return the model that was selected last on the branch; for a virtual model, no answer names it."""
        return self.open_session.context.selected_model()

    def last_answer(self) -> AssistantMessage | None:
        """Return the last successful answer on the branch, compacted or not; None if there is none."""
        return self.open_session.context.last_answer()

    def recorded_instructions(self) -> Instructions:
        """Return the recorded prompt and tools; the same object until a record is added or the leaf moves."""
        return self.open_session.records.instructions()

    def conversation(self) -> builtins.list[AgentMessage]:
        """Return the messages of the context, all parsed, without damaged messages and records."""
        return self.open_session.conversation()

    def message_lines(self, messages: Iterable[AgentMessage]) -> Iterator[bytes]:
        """Yield messages of the conversation as JSON, without a newline: as they are stored, where that is possible."""
        return self.open_session.context.lines(messages)

    def append_message(self, message: AgentMessage) -> str:
        """Append a message; a plugin's message becomes a custom message entry.

        Raises:
            PiError: The message is a summary, which another method appends.
        """
        return self.open_session.append_message(message)

    def append_custom_message_entry(
        self, custom_type: str, content: str | Sequence[UserContent], *, display: bool = True, details: Any = None
    ) -> str:
        """Append a plugin's message, which the model sees."""
        return self.open_session.append_custom_message_entry(custom_type, content, display=display, details=details)

    def append_custom_entry(self, custom_type: str, data: Any = None) -> str:
        """Append a plugin's data, outside the model's context."""
        return self.open_session.append_custom_entry(custom_type, data)

    def append_model_change(self, provider: str, model_id: str) -> str:
        """Record a change of the model."""
        return self.open_session.append_model_change(provider, model_id)

    def append_thinking_level_change(self, thinking_level: str) -> str:
        """Record a change of the reasoning effort."""
        return self.open_session.append_thinking_level_change(thinking_level)

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
        return self.open_session.append_compaction(
            summary, first_kept_entry_id, tokens_before, details, from_hook=from_hook, usage=usage
        )

    def append_session_info(self, name: str | None) -> str:
        """Name the session; an empty name removes the name."""
        return self.open_session.append_session_info(name)

    def append_label_change(self, target_id: str, label: str | None) -> str:
        """Label an entry; None removes its label.

        Raises:
            UserError: There is no such entry.
        """
        return self.open_session.append_label_change(target_id, label)

    def append_usage(self, kind: str, provider: str, model: str, usage: Usage, note: str | None = None) -> str:
        """Record the usage of a request outside the conversation; ``kind`` is its purpose."""
        return self.open_session.append_usage(kind, provider, model, usage, note)

    def append_context_edit(self, target_id: str, replacement: str | Sequence[Content] | None) -> str:
        """Replace the content of an entry in the model's context; None removes the entry from it.

        Raises:
            UserError: There is no such entry.
        """
        return self.open_session.append_context_edit(target_id, replacement)

    def append_entry(self, entry: SessionEntry) -> str:
        """Append a copy of an entry, with a new id, parent and timestamp."""
        return self.open_session.append_entry(entry)

    def navigate_to(self, entry_id: str) -> None:
        """Make an earlier entry the leaf, which the next entry follows; no entry is changed or removed.

        Raises:
            UserError: There is no such entry.
        """
        self.open_session.tree.move_to(entry_id)

    branch = navigate_to

    def reset_leaf(self) -> None:
        """Move the leaf before the first entry, so that the next entry is a new root."""
        self.open_session.tree.move_to_start()

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
        return self.open_session.branch_with_summary(branch_from_id, summary, details, from_hook=from_hook, usage=usage)

    def begin_storing(self) -> None:
        """Store the waiting entries, and from now on each entry, even without an answer."""
        self.open_session.writer.begin()

    def stop_storing(self) -> None:
        """Stop storing and using the store, in a forked child of the process that owns the session."""
        self.open_session.writer.stop()

    def close(self) -> None:
        """Try once more to store the waiting entries, and close the stored session."""
        self.open_session.writer.close()

    def sync(self) -> None:
        """End a turn: store waiting entries, and sync them to disk if the setting ``sessionSync`` is ``turn``."""
        if self._chosen.place.sync == "turn":
            self.open_session.writer.sync()
        elif self.open_session.writer.begun:
            self.open_session.writer.flush()

    def notice(self, message: str) -> None:
        """Add a notice for the user, in full sentences."""
        self.notices.append(message)
        if self.on_problem is not None:
            self.on_problem(message)

    # Aliases with the names of the TypeScript pi

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

    # Switching to another session

    def set_session_file(self, session_file: str | Path) -> None:
        """Switch to another stored session; if nothing is stored under the path, to a new session with that path.

        Raises:
            UserError: It is not a session.
        """
        stored, begun = lookup.open_or_create(self._chosen, session_file, self.cwd)
        self._replace(stored, begun=begun)

    def new_session(self, *, id: str | None = None, parent_session: str | None = None) -> Path | None:  # noqa: A002 - as above
        """Switch to a new session of the same working directory; return its file, or None in memory."""
        self._replace(self._chosen.store.create(lookup.new_header(self.cwd, id, parent_session)), begun=False)
        return self.file

    def create_branched_session(self, leaf_id: str) -> Path | None:
        """Switch to a new session with the entries from the root to an entry; return its file, or None in memory.

        The labels of the entries are copied. It is stored immediately if it contains an answer.

        Raises:
            UserError: There is no such entry.
            OSError: The new session could not be stored; this session stays open.
        """
        return self.fork(leaf_id, "at")

    def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> Path | None:
        """Like ``create_branched_session``, but by default without the entry itself."""
        old, tree = self.open_session, self.open_session.tree
        number = tree.require(entry_id)
        numbers = tree.path_to(number if position == "at" else tree.parent(number))
        labels = old.labels_of(numbers)
        fork = fork_path(self._chosen, old, numbers)
        self._replace(fork.stored, begun=fork.begun, waiting=fork.waiting)
        self.open_session.set_labels(labels)
        return self.file

    # Export and import

    def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a separate session file; return its path.

        Raises:
            UserError: There is nothing to export yet, or the file cannot be written.
        """
        from pi_core.session.jsonl import export_jsonl

        return export_jsonl(self.open_session, path)

    export_to_jsonl = export_jsonl

    def export_html(self, path: str | Path | None = None, *, host: PluginHost | None = None) -> Path:
        """Write all branches as one HTML page; return its path. ``AgentSession.export_html`` adds prompt and tools.

        The default path is ``pi-session-...html`` in the working directory. A plugin of ``host`` writes the page; None
        uses the host with which the session was created.

        Raises:
            UserError: There is nothing to export, no plugin writes HTML, or the file cannot be written.
        """
        from pi_core.session.exporting import HTML, export_session

        return export_session(self, path, host=host, export_format=HTML)

    export_to_html = export_html

    def import_copy(self, path: str | Path) -> str:
        """Copy a session file into this session's store; return its ``reference``. Raises as ``import_jsonl``."""
        from pi_core.session.jsonl import import_jsonl

        stored = import_jsonl(self._chosen, path)
        stored.close()
        return stored.reference

    import_beside = import_copy  # the name in 1.0

    def _replace(self, stored: StoredSession, *, begun: bool, waiting: Sequence[SessionEntry] = ()) -> None:
        self.open_session.writer.close()
        self.open_session = self._open(stored, begun=begun, waiting=waiting)

    def _open(self, stored: StoredSession, *, begun: bool, waiting: Sequence[SessionEntry] = ()) -> OpenSession:
        return OpenSession(
            stored,
            report=self.notice,
            on_append=self._on_entry_appended,
            append_hook=None if self._chosen.in_memory else self.append_hook,
            begun=begun,
            waiting=waiting,
            plugin=getattr(self._chosen.store, "plugin", "(program)"),
        )

    def _on_entry_appended(self, entry: SessionEntry) -> None:
        if self.on_append is not None:
            self.on_append(entry)
