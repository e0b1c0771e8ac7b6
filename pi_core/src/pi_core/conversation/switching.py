"""Another session in place of the present one: new, stored, forked or cloned, with plugins asked and told.

The ``AgentSession`` stays, its listeners and plugins with it; what is replaced is the conversation. Plugins are
asked, then the old conversation is shut down, then it is replaced, then the new one begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import frozen

import pi_hookspecs  # as in compaction.py
from pi_core.conversation.resources import discover_resources
from pi_core.conversation.restore import note_choices, restored_level, restored_model, tell_of_interruption
from pi_hookspecs import UserError, UserMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core.conversation.session import AgentSession
    from pi_core.session import SessionManager

__all__ = ["ForkOutcome", "Replacing"]


@frozen(kw_only=True)
class ForkOutcome:
    """What came of a fork: what the user had said there, for editing, unless a plugin ``cancelled`` it."""

    selected_text: str = ""
    cancelled: bool = False


class Replacing:
    """Replaces a session's conversation.

    Args:
        session: Whose.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session

    async def new(
        self, parent_session: str | None, setup: Callable[[SessionManager], Awaitable[None] | None] | None
    ) -> bool:
        """Begin a new conversation; see ``AgentSession.new_session``."""
        if not await self._may_switch("new", None):
            return False
        manager = self._session.session_manager

        async def replace() -> None:
            manager.new_session(parent_session=parent_session)
            note_choices(manager, self._session.model, self._session.thinking_level)
            waiting = setup(manager) if setup is not None else None
            if waiting is not None and hasattr(waiting, "__await__"):  # a lambda returns what its last call did
                await waiting

        await self._replace("new", replace)
        return True

    async def switch(self, path: str | Path) -> bool:
        """Go over to a stored conversation; see ``AgentSession.switch_session``."""
        if not await self._may_switch("resume", str(path)):
            return False

        async def replace() -> None:
            self._session.session_manager.set_session_file(path)

        await self._replace("resume", replace)
        return True

    async def fork(self, entry_id: str, position: Literal["before", "at"]) -> ForkOutcome:
        """Go over to a copy that ends before an entry or with it; see ``AgentSession.fork``."""
        session, manager = self._session, self._session.session_manager
        entry = manager.get_entry(entry_id)
        if entry is None:
            raise UserError(f"Entry {entry_id} not found")
        message = getattr(entry, "message", None)
        if position == "before" and not isinstance(message, UserMessage):
            raise UserError(f"Entry {entry_id} is no message of the user; only before one of these a fork may begin.")
        if session.hooks.listens("session_before_fork"):
            from pi_hookspecs.specs import session as session_specs

            event = pi_hookspecs.SessionBeforeForkEvent(entry_id=entry_id, position=position)
            answer = await session.hooks.call(session_specs.session_before_fork, event, session.ctx)
            if answer is not None and answer.cancel:
                return ForkOutcome(cancelled=True)

        async def replace() -> None:
            manager.fork(entry_id, position)

        await self._replace("fork", replace)
        said = text_of(message.content) if position == "before" and isinstance(message, UserMessage) else ""
        return ForkOutcome(selected_text=said)

    async def _may_switch(self, reason: Literal["new", "resume"], target: str | None) -> bool:
        session = self._session
        if not session.hooks.listens("session_before_switch"):
            return True
        from pi_hookspecs.specs import session as session_specs

        event = pi_hookspecs.SessionBeforeSwitchEvent(reason=reason, target_session_file=target)
        answer = await session.hooks.call(session_specs.session_before_switch, event, session.ctx)
        return answer is None or not answer.cancel

    async def _replace(self, reason: Literal["new", "resume", "fork"], replace: Callable[[], Awaitable[None]]) -> None:
        """Stop what runs, tell the plugins that the conversation ends, replace it, tell them that one begins.

        Where it cannot be replaced, the one that begins for them is the one that they were told had ended.
        """
        session = self._session
        await session.start()
        await session.abort("Another session")
        before = str(session.session_manager.file or "") or None
        if session.hooks.listens("session_shutdown"):
            shutdown = pi_hookspecs.SessionShutdownEvent(reason=reason)
            await session.hooks.notify(shutdown, session.ctx)
        session.sending.forget()
        try:
            await replace()
        except BaseException:
            await self._begin("resume", before)
            raise
        session.take_context()
        await self._restore(reason)
        await self._tell(reason, before)

    async def _restore(self, reason: Literal["new", "resume", "fork"]) -> None:
        """Take over model and thinking level of a stored conversation, as far as they can be had."""
        session = self._session
        if reason == "new":
            return
        if reason == "resume":
            tell_of_interruption(session.session_manager)
        model = restored_model(session.session_manager, session.models)
        if model is not None and (session.model is None or model.reference != session.model.reference):
            await session.set_model(model, "restore")
        level = restored_level(session.session_manager)
        if level is not None:
            await session.parts.choices.set_level(level, persist=False, note=False)

    async def _tell(self, reason: Literal["new", "resume", "fork"], before: str | None) -> None:
        session = self._session
        if reason == "fork":
            if session.hooks.listens("session_fork"):
                await session.hooks.notify(pi_hookspecs.SessionForkEvent(previous_session_file=before), session.ctx)
        elif session.hooks.listens("session_switch"):
            switch = pi_hookspecs.SessionSwitchEvent(reason=reason, previous_session_file=before)
            await session.hooks.notify(switch, session.ctx)
        await self._begin(reason, before)

    async def _begin(self, reason: Literal["new", "resume", "fork"], before: str | None) -> None:
        session = self._session
        if session.hooks.listens("session_start"):
            start = pi_hookspecs.SessionStartEvent(reason=reason, previous_session_file=before)
            await session.hooks.notify(start, session.ctx)
        await discover_resources(session, "startup")
