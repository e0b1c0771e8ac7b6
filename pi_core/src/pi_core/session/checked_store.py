"""Checks what a plugin's session store returns, and names the plugin if it is wrong or an exception."""

from __future__ import annotations

from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import checked_answer, format_traceback, safe_repr, summary_and_traceback
from pi_hookspecs.errors import PiError
from pi_hookspecs.session_store import SessionInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import SessionHeader, SessionStore, StoredSession

__all__ = ["CheckedStore", "StoreFailed"]

_MEMBERS = ("header", "reference", "entries", "notices", "append", "sync", "close")
"""Those of a ``StoredSession`` that are used; their values are not read here, as they may read a whole file."""


class StoreFailed(PiError):
    """A session store raised an exception that is not meant for the user, or returned something else than a session."""


class CheckedStore:
    """The store of a plugin; its further attributes are available unchanged.

    Args:
        store: The store.
        plugin: The plugin's name.

    Attributes:
        plugin: The plugin's name.
    """

    def __init__(self, store: SessionStore, plugin: str) -> None:
        self._store = store
        self.plugin = plugin
        self.name: str = store.name

    def create(self, header: SessionHeader, reference: str | None = None) -> StoredSession:
        """Create a session; see ``SessionStore.create``."""
        stored: StoredSession = self._call("create", _session, header, *_given(reference))
        return stored

    def open(self, reference: str) -> StoredSession:
        """Open a session; see ``SessionStore.open``."""
        stored: StoredSession = self._call("open", _session, reference)
        return stored

    def list(self, cwd: str | None = None, progress: Any = None) -> Sequence[SessionInfo]:
        """List sessions; see ``SessionStore.list``."""
        found: Sequence[SessionInfo] = self._call("list", _infos, cwd, *_given(progress))
        return found

    def latest(self, cwd: str) -> str | None:
        """Return the latest session; see ``SessionStore.latest``."""
        reference: str | None = self._call("latest", _reference, cwd)
        return reference

    def fork(self, source: StoredSession, header: SessionHeader, numbers: Sequence[int]) -> StoredSession:
        """Copy entries to a new session; see ``SessionStore.fork``."""
        stored: StoredSession = self._call("fork", _session, source, header, numbers)
        return stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def _call(self, method: str, check: Callable[[Any], Any], *arguments: Any) -> Any:
        """Call a method and check its answer.

        Raises:
            StoreFailed: The method failed, or returned something else.
            PiError: What the store says to the user.
        """
        try:
            return check(getattr(self._store, method)(*arguments))
        except (PiError, OSError):  # a file that is missing or must not be read is no mistake of the plugin
            raise
        except Exception as error:
            line, _ = summary_and_traceback(error)
            message = (
                f"The session store {self.name!r} of plugin {self.plugin!r} failed in {method}: {line}. "
                "Select another one with the setting sessionStore, or none with --no-session."
            )
            failed = StoreFailed(message)
            failed.add_note(format_traceback(error))
            raise failed from error


def _given(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def _session(answer: Any) -> Any:
    missing = [each for each in _MEMBERS if getattr_static(answer, each, None) is None]
    if missing:
        raise TypeError(f"it returned {safe_repr(answer)}, which is not a StoredSession: it has no {missing[0]!r}")
    return answer


def _infos(answer: Any) -> Any:
    for each in checked_answer(answer, list, tuple):
        checked_answer(each, SessionInfo)
    return answer


def _reference(answer: Any) -> Any:
    return checked_answer(answer, str, type(None))
