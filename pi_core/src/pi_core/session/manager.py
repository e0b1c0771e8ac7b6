"""``SessionManager``: where a session comes from, and how it is replaced by another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pi_core.session import lookup
from pi_core.session.forks import fork_path, fork_stored
from pi_core.session.open_session import OpenSession
from pi_core.session.stores import NoStore, memory_store, resolve_store, store_or_memory
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import (
        SessionEntry,
        SessionHeader,
        StoredSession,
    )

__all__ = ["SessionManager"]


class SessionManager(OpenSession):
    """The open session and its store: creates, opens and forks sessions, and switches from one to another.

    Create a manager with ``create``, ``open``, ``continue_recent``, ``in_memory``, ``fork_from`` or ``import_jsonl``.

    Args of all factories:
        session_dir: The folder for sessions; None uses ``PI_CODING_AGENT_SESSION_DIR``, else the setting
            ``sessionDir``, else a folder in the agent directory.
        host: The plugins; one of them registers the store of the setting ``sessionStore`` (default ``jsonl``). None
            uses the installed plugins.
        environ: Environment variables; None uses the environment of the process.
    """

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

    # The store

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
        number = self.tree.require(entry_id)
        numbers = self.tree.path_to(number if position == "at" else self.tree.parent(number))
        labels = self.labels_of(numbers)
        fork = fork_path(self._chosen, self, numbers)
        self._replace(fork.stored, begun=fork.begun, waiting=fork.waiting)
        self.set_labels(labels)
        return self.file

    # Export and import

    def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a separate session file; return its path.

        Raises:
            UserError: There is nothing to export yet, or the file cannot be written.
        """
        from pi_core.session.jsonl import export_jsonl

        return export_jsonl(self, path)

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
        self.writer.close()
        self._take(stored, begun=begun, waiting=waiting)
