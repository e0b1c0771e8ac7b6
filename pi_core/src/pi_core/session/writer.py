"""Writes a session's entries to its store, and handles failures of the store.

Nothing is stored before the first prompt, so that an abandoned session leaves no file. The prompt stores all entries
in one append, because pi may end before the answer; after that, each entry is stored individually. Entries that could
not be stored are queued in memory, in order, for the next append; a store that has blocked pi is only asked again at
the end of a turn.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from pi_core.agent.safe_text import exception_location, format_exception
from pi_core.hooks.containment import Contained
from pi_core.hooks.loop_watch import LoopBlocked
from pi_core.hooks.records import HookRefused
from pi_core.session.append_hook import NAME, AppendHook
from pi_hookspecs.entries import MessageEntry
from pi_hookspecs.messages import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import SessionEntry, StoredSession

__all__ = ["SessionWriter"]

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class SessionWriter:
    """Stores the entries of one session.

    Args:
        stored: The stored session.
        report: Called, with full sentences, when storing fails and when it works again.
        hook: Lets plugins change entries before they are stored; without it they are stored unchanged.
        begun: Whether the session is stored already.
        waiting: Entries that are not stored yet.
        plugin: The plugin of the store.

    Attributes:
        begun: Whether entries are stored, which starts with the first prompt.
        waiting: Entries that are not stored yet.
    """

    def __init__(
        self,
        stored: StoredSession,
        report: Callable[[str], None],
        *,
        hook: AppendHook | None = None,
        begun: bool,
        waiting: Sequence[SessionEntry] = (),
        plugin: str = "(program)",
    ) -> None:
        self.stored = stored
        self._plugin = plugin
        self.begun = begun
        self.waiting = list(waiting)
        self._report = report
        self._hook = hook or AppendHook()
        self._ready: Sequence[SessionEntry] = ()
        self._is_calling = self._stopped = self._is_blocked = False
        self._failing: int | str | None = None
        self._notices_reported = 0
        self._report_notices()

    def add(self, entry: SessionEntry) -> None:
        """Store an entry, or queue it before the first prompt; never raises if the store fails."""
        self.waiting.append(entry)
        if (self.begun or _begins_conversation(entry)) and not self._is_blocked:
            self.begin()

    def begin(self) -> None:
        """Store the waiting entries, and from now on each entry, even without a prompt."""
        self.begun = True
        self.flush()

    def flush(self) -> bool:
        """Store the waiting entries; return whether all are stored."""
        if not self.waiting:
            return True
        if self._stopped or self._is_calling:
            return False
        entries = None
        with Contained(self._report_failure):  # a store is a plugin and may raise anything; the run continues
            prepared = self._prepared() if self._ready or NAME in self._hook.hooks.implemented else tuple(self.waiting)
            self.stored.append(prepared)
            entries = prepared
        if entries is None:
            return False
        self._is_blocked = False
        del self.waiting[: len(entries)]  # the plugins may have appended other entries meanwhile
        self._ready = ()
        self._report_notices()
        if self._failing is not None:
            self._failing = None
            self._report(f"Session {self.place} is stored again; nothing is missing.")
        return not self.waiting

    def _prepared(self) -> Sequence[SessionEntry]:
        """Return the waiting entries as changed by plugins; each is passed to plugins once, even if storing fails.

        Raises:
            HookRefused: A plugin failed.
        """
        if new := self.waiting[len(self._ready) :]:
            self._is_calling = True
            try:
                self._ready = (*self._ready, *self._hook.apply(new))
            finally:
                self._is_calling = False
        return self._ready

    def sync(self) -> None:
        """Sync the stored entries to disk; never raises if the store fails."""
        if self._stopped or not self.begun or not self.flush():
            return
        with self._contained("synced to disk"):
            self.stored.sync()

    def close(self) -> None:
        """Try once more to store the waiting entries, else keep them in a file, and close the stored session."""
        if self._stopped:
            return
        if self.begun and not self.flush():
            missing = "1 entry is" if len(self.waiting) == 1 else f"{len(self.waiting)} entries are"
            kept = self._kept_elsewhere()
            place = "lost" if kept is None else f"in {kept!r}, which `pi --session` opens"
            self._report(f"Session {self.place} ends with entries that could not be written: {missing} {place}.")
        with self._contained("closed"):
            self.stored.close()

    def stop(self) -> None:
        """Stop storing and using the store, in a forked child of the process that owns the session."""
        self._stopped = True

    @property
    def place(self) -> str:
        """The quoted file or reference of the session, for messages."""
        return repr(str(self.stored.file or self.stored.reference))

    def _report_notices(self) -> None:
        """Report new notices of the store; it detects another process only when it creates the file."""
        notices = self.stored.notices
        for notice in notices[self._notices_reported :]:
            self._report(notice)
        self._notices_reported = len(notices)

    def _kept_elsewhere(self) -> str | None:
        """Write the waiting entries to a new file that only the user can read; return its path, or None on failure."""
        import tempfile

        from pi_core.wire.converter import dumps

        with Contained(bool):  # the disk may be full, and a plugin that removes secrets may refuse
            lines = [dumps(each) + b"\n" for each in (self.stored.header, *self._prepared())]
            descriptor, name = tempfile.mkstemp(prefix="pi-session-", suffix=".jsonl")
            with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
                file.writelines(lines)
            return name
        return None

    def _contained(self, done: str) -> Contained:
        def report(error: BaseException) -> None:
            self._report(f"Session {self.place} could not be {done}: {self._reason(error)}.")

        return Contained(report)

    def _report_failure(self, error: BaseException) -> None:
        """Report a failure, unless the previous attempt failed with the same error."""
        self._is_blocked = isinstance(error, LoopBlocked)
        number = (error.errno if isinstance(error, OSError) else None) or 0
        cause = str(error) if isinstance(error, HookRefused) else number
        if cause == self._failing:
            return
        self._failing = cause
        waiting = "1 entry waits" if len(self.waiting) == 1 else f"{len(self.waiting)} entries wait"
        advice = "" if isinstance(error, HookRefused) else f" {_advice(number)}"  # a refusal has its own
        self._report(
            f"Session {self.place} cannot be written: {self._reason(error)}. The conversation continues in memory "
            f"only; {waiting} and will be stored with the next one that can be.{advice}"
        )

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, OSError) and error.errno is not None:
            return f"{error.strerror} (errno {error.errno})"
        if isinstance(error, HookRefused):
            return str(error)
        return f"Plugin {self._plugin!r} failed to store it: {format_exception(error)}{exception_location(error)}"


def _begins_conversation(entry: SessionEntry) -> bool:
    return isinstance(entry, MessageEntry) and isinstance(entry.message, UserMessage | AssistantMessage)


def _advice(number: int) -> str:
    if number in _FULL:
        return "Free some space on that disk, or export the session to another one."
    if number in _FORBIDDEN:
        return "Make it writable, or choose another folder with --session-dir."
    return "Check the disk, or export the session to another one."
