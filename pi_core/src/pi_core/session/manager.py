"""``SessionManager``: sessions made, opened, found and forked; what it does to one is in its base classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pi_core.session.appending import SessionAppends
from pi_core.session.finding import find_by_prefix, is_empty, new_header, newest_except, open_or_create
from pi_core.session.stores import NoStore, chosen_store, memory_store
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pi_core.host import PluginHost
    from pi_core.session.stores import ChosenStore
    from pi_hookspecs import Progress, SessionEntry, SessionHeader, SessionInfo, StoredSession

__all__ = ["SessionManager"]


class SessionManager(SessionAppends):
    """A session's tree of entries, its place in a store, and the place where the next entry goes.

    Make one with ``create``, ``open``, ``continue_recent``, ``in_memory`` or ``fork_from``. What these have in common:

    Args of all factories:
        session_dir: The folder for sessions; else ``PI_CODING_AGENT_SESSION_DIR``, the setting ``sessionDir``, and the
            agent directory's own.
        host: The plugins, one of which brings the store that the setting ``sessionStore`` names (``jsonl``); the
            installed ones when None.
        environ: Environment variables; the process's when None.
    """

    # Making one

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
        """Return a new session; it is stored with the first answer.

        Without a plugin that stores sessions it is one in memory, and ``notices`` say so.

        Raises:
            UserError: The id cannot be one.
        """
        header = new_header(cwd, id, parent_session)
        try:
            chosen = chosen_store(cwd, session_dir, host=host, environ=environ)
        except NoStore as error:
            manager = cls._new(memory_store(), header)
            manager.notices.append(f"{error} Until then this session is kept in memory only.")
            return manager
        return cls._new(chosen, header)

    @classmethod
    def in_memory(cls, cwd: str | Path | None = None, *, id: str | None = None) -> Self:  # noqa: A002 - as above
        """Return a session that is stored nowhere."""
        return cls._new(memory_store(), new_header(cwd, id, None))

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
        """Open a stored session; where nothing is stored under a path, a new session that keeps it.

        Args:
            path: A session's file, or what else the store takes.
            session_dir: See the class.
            cwd: The working directory of a new session.
            host: See the class.
            environ: See the class.

        Raises:
            UserError: It is no session, or no plugin can read it.
        """
        try:
            chosen = chosen_store(cwd, session_dir, host=host, environ=environ)
        except NoStore as error:
            raise UserError(f"Cannot open session {str(path)!r}. {error}") from error
        stored, begun = open_or_create(chosen, path, cwd)
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
        """Open the session of a working directory that was stored to last; a new one where there is none.

        One that cannot be opened is named in ``notices``, and the one before it is opened.
        """
        try:
            chosen = chosen_store(cwd, session_dir, host=host, environ=environ)
        except NoStore:
            return cls.create(cwd, session_dir, host=host, environ=environ)
        header = new_header(cwd, None, None)
        latest = chosen.store.latest(header.cwd)
        if latest is None:
            return cls._new(chosen, header)
        try:
            return cls(chosen, chosen.store.open(latest), begun=True)
        except UserError as error:
            before = newest_except(latest, chosen, header.cwd)
            manager = cls._new(chosen, header) if before is None else cls(chosen, before, begun=True)
            which = "a new one" if before is None else "the one before"
            manager.notices.append(f"The last session could not be opened, this is {which}. {error}")
            return manager

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
        """Return a copy of a stored session, all branches of it, that belongs to another working directory.

        Raises:
            UserError: There is nothing to copy, or no plugin can read it.
            OSError: The copy could not be stored.
        """
        header = new_header(target_cwd, id, str(source_path))
        chosen = chosen_store(target_cwd, session_dir, host=host, environ=environ)
        problem = f"Cannot fork: source session file is empty or invalid: {source_path}"
        try:
            source = chosen.store.open(str(source_path))
        except UserError as error:
            raise UserError(f"{problem} ({error})") from error
        try:
            if is_empty(source):
                raise UserError(problem)
            copy = chosen.store.fork(source, header, range(len(source.entries)))
        finally:
            source.close()
        return cls(chosen, copy, begun=True)

    # Finding one

    @classmethod
    def list(
        cls,
        cwd: str | Path | None = None,
        session_dir: str | Path | None = None,
        on_progress: Progress | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Sequence[SessionInfo]:
        """List the stored sessions of a working directory, the most recently modified first.

        Reads many files where there are many sessions: ``asyncio.to_thread`` keeps a front end awake meanwhile.
        """
        chosen = chosen_store(cwd, session_dir, host=host, environ=environ)
        return chosen.store.list(new_header(cwd).cwd, on_progress)

    @classmethod
    def list_all(
        cls,
        on_progress: Progress | None = None,
        *,
        session_dir: str | Path | None = None,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Sequence[SessionInfo]:
        """List the stored sessions of all working directories, the most recently modified first."""
        return chosen_store(None, session_dir, host=host, environ=environ).store.list(None, on_progress)

    @classmethod
    def find(
        cls,
        partial_id: str,
        cwd: str | Path | None = None,
        session_dir: str | Path | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> SessionInfo:
        """Return the stored session whose id begins like this; those of the working directory are looked at first.

        Raises:
            UserError: No session has such an id, or several do: then the message lists them.
        """
        sessions = cls.list_all(session_dir=session_dir, host=host, environ=environ)
        return find_by_prefix(partial_id, sessions, new_header(cwd).cwd)

    @classmethod
    def find_by_id(
        cls,
        session_id: str,
        session_dir: str | Path | None = None,
        *,
        cwd: str | Path | None = None,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> SessionInfo | None:
        """Return the stored session with this very id, the newest of several; None when there is none.

        Args:
            session_id: The whole id.
            session_dir: See the class.
            cwd: Look only at the sessions of this working directory.
            host: See the class.
            environ: See the class.
        """
        chosen = chosen_store(cwd, session_dir, host=host, environ=environ)
        sessions = chosen.store.list(None if cwd is None else new_header(cwd).cwd)
        return next((each for each in sessions if each.id == session_id), None)

    # Another session in place of this one

    def set_session_file(self, session_file: str | Path) -> None:
        """Go over to another stored session; where nothing is stored under the path, to a new one that keeps it.

        Raises:
            UserError: It is no session.
        """
        stored, begun = open_or_create(self._chosen, session_file, self.cwd)
        self._replace(stored, begun=begun)

    def new_session(self, *, id: str | None = None, parent_session: str | None = None) -> Path | None:  # noqa: A002 - as above
        """Go over to a new session of the same working directory; returns its file, None in memory."""
        self._replace(self._chosen.store.create(new_header(self.cwd, id, parent_session)), begun=False)
        return self.file

    def create_branched_session(self, leaf_id: str) -> Path | None:
        """Go over to a new session that holds the path from the root to an entry; returns its file, None in memory.

        The labels of its entries come with it. It is stored now if it holds an answer.

        Raises:
            UserError: There is no such entry.
            OSError: It could not be stored; this session stays in place.
        """
        numbers = self._tree.path_to(self._number(leaf_id))
        return self._go_over_to(numbers)

    def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> Path | None:
        """Go over to a new session that ends before an entry, or with it; returns its file."""
        number = self._number(entry_id)
        end = number if position == "at" else self._tree.parent(number)
        return self._go_over_to(self._tree.path_to(end))

    def export_jsonl(self, path: str | Path) -> Path:
        """Write the branch as a session file of its own; returns its path.

        Raises:
            UserError: There is nothing to export yet, or the file cannot be written.
        """
        from pi_core.session.jsonl import export_jsonl

        return export_jsonl(self, path)

    export_to_jsonl = export_jsonl

    def export_html(self, path: str | Path | None = None, *, host: PluginHost | None = None) -> Path:
        """Write all branches as one HTML page; returns its path. ``AgentSession.export_html`` knows more to put there.

        Args:
            path: The file; ``pi-session-...html`` in the working directory, named after the session's, when None.
            host: The plugins, one of which makes the page; those that the session was made with when None.

        Raises:
            UserError: There is nothing to export, nobody who could, or no place to write to.
        """
        from pi_core.session.exporting import HTML, export_session

        return export_session(self, path, host=host, export_format=HTML)

    export_to_html = export_html

    @classmethod
    def import_jsonl(
        cls,
        path: str | Path,
        session_dir: str | Path | None = None,
        *,
        host: PluginHost | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Copy a session file to where sessions are kept, and open it; id and working directory stay.

        Raises:
            UserError: It is no session, a session of its id is stored already, or it cannot be stored.
        """
        from pi_core.session.jsonl import import_jsonl

        chosen = chosen_store(session_dir=session_dir, host=host, environ=environ)
        return cls(chosen, import_jsonl(chosen, path), begun=True)

    def import_beside(self, path: str | Path) -> str:
        """Copy a session file beside this session; returns what ``open`` takes. Raises as ``import_jsonl``."""
        from pi_core.session.jsonl import import_jsonl

        stored = import_jsonl(self._chosen, path)
        stored.close()
        return stored.reference

    # Inside

    @classmethod
    def _new(cls, chosen: ChosenStore, header: SessionHeader) -> Self:
        return cls(chosen, chosen.store.create(header))

    def _replace(self, stored: StoredSession, *, begun: bool, waiting: Sequence[SessionEntry] = ()) -> None:
        self._writer.close()
        self._use(stored, begun=begun, waiting=waiting)

    def _go_over_to(self, numbers: Sequence[int]) -> Path | None:
        labels = {self._tree.id(number): self._names.label(self._tree.id(number) or "") for number in numbers}
        before, is_stored = self._writer.stored, self._writer.begun and self._writer.flush()
        parent = before.reference if self.is_persisted and self._writer.begun else None
        header = new_header(self.cwd, None, parent)
        if is_stored and self._holds_answer(numbers):
            self._replace(self._chosen.store.fork(before, header, numbers), begun=True)
        else:
            entries = [self._tree.entry(number) for number in numbers]
            begun = self._writer.begun and self._holds_answer(numbers)
            self._replace(self._chosen.store.create(header), begun=begun, waiting=entries)
        for entry_id, label in labels.items():
            if entry_id is not None and self.get_label(entry_id) != label:
                self.append_label_change(entry_id, label)
        return self.file

    def _holds_answer(self, numbers: Sequence[int]) -> bool:
        """Whether one of these entries is an answer, looking at the newest first."""
        from pi_hookspecs.messages import AssistantMessage

        entries = (self._tree.entry(number) for number in reversed(numbers) if self._tree.type(number) == "message")
        return any(isinstance(each, MessageEntry) and isinstance(each.message, AssistantMessage) for each in entries)
