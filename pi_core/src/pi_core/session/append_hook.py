"""``session_before_append``: plugins change entries before a writer stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_hookspecs import PiContext, SessionEntry

__all__ = ["NAME", "AppendHook"]

NAME = "session_before_append"


class AppendHook:
    """Calls the hook for the writers of one manager, once the manager is used by a conversation.

    Attributes:
        hooks: Its ``implemented`` contains the names of the hooks with an implementation. It is an attribute, because
            it is looked up whenever entries are stored, and most sessions have no implementation.
    """

    def __init__(self) -> None:
        self.hooks: _Implemented = _NoHooks()
        self._call: Callable[[Sequence[SessionEntry]], Sequence[SessionEntry]] = tuple

    def connect(self, hooks: HookDispatcher, ctx: Callable[[], PiContext]) -> None:
        """Start to call the plugins of a conversation.

        Args:
            hooks: Calls the plugins.
            ctx: Returns the ``ctx`` for the plugins.
        """

        def call(entries: Sequence[SessionEntry]) -> Sequence[SessionEntry]:
            from pi_core.session.copies import copy_entry
            from pi_hookspecs import SessionBeforeAppendEvent
            from pi_hookspecs.specs.session import session_before_append

            event = SessionBeforeAppendEvent(entries=tuple(map(copy_entry, entries)))
            answer = hooks.call_now(session_before_append, event, ctx())
            return entries if answer is None else answer.entries

        self.hooks, self._call = hooks, call

    def apply(self, entries: Sequence[SessionEntry]) -> Sequence[SessionEntry]:
        """Return the entries to store, as changed by plugins.

        Raises:
            HookRefused: A plugin failed, so nothing may be stored.
        """
        return self._call(entries)


class _Implemented(Protocol):
    implemented: frozenset[str]


class _NoHooks:
    implemented: frozenset[str] = frozenset()
