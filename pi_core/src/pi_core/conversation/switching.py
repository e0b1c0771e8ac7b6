"""Switches sessions: new, stored, forked or cloned; hooks can cancel a switch and are notified of it.

The ``AgentSession`` stays, with its listeners and plugins; only the conversation is replaced. Plugins are asked first;
then the old conversation is shut down and replaced, and the new one begins.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from attrs import frozen

import pi_hookspecs  # as in compaction.py
from pi_core.conversation.offered_tools import OfferedTools
from pi_core.conversation.resources import discover_resources
from pi_core.conversation.restore import append_initial_settings, restore_interrupted, restored_level, restored_model
from pi_hookspecs import UserError, UserMessage, text_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.conversation.lifecycle import Lifecycle
    from pi_core.conversation.message_queue import MessageQueue
    from pi_core.conversation.model_selection import ModelSelection
    from pi_core.conversation.runtime import Runtime
    from pi_core.session import SessionManager

__all__ = ["ForkOutcome", "SessionSwitcher"]


@frozen(kw_only=True)
class ForkOutcome:
    """The result of a fork: the user's text at the fork, for editing, or that a plugin ``cancelled`` it."""

    selected_text: str = ""
    cancelled: bool = False


class SessionSwitcher:
    """Switches to another conversation.

    Args:
        runtime: The objects that all parts share.
        lifecycle: Starts the session, and stops running work.
        queue: The message queues, which are cleared.
        models: Selects the model of the new conversation.
    """

    def __init__(self, runtime: Runtime, lifecycle: Lifecycle, queue: MessageQueue, models: ModelSelection) -> None:
        self._runtime = runtime
        self._lifecycle = lifecycle
        self._queue = queue
        self._models = models

    async def new(
        self,
        *,
        parent_session: str | None = None,
        setup: Callable[[SessionManager], Awaitable[None] | None] | None = None,
    ) -> bool:
        """Begin a new conversation; see ``AgentSession.new_session``."""
        if not await self._may_switch("new", None):
            return False
        manager = self._runtime.manager

        async def replace() -> None:
            manager.new_session(parent_session=parent_session)
            state = self._runtime.agent.state
            append_initial_settings(manager, state.model, state.thinking_level)
            waiting = setup(manager) if setup is not None else None
            if waiting is not None and hasattr(waiting, "__await__"):  # a lambda returns the value of its expression
                await waiting

        await self._replace("new", replace)
        return True

    async def switch(self, session_path: str | Path) -> bool:
        """Open a stored conversation; see ``AgentSession.switch_session``."""
        if not await self._may_switch("resume", str(session_path)):
            return False

        async def replace() -> None:
            self._runtime.manager.set_session_file(session_path)

        await self._replace("resume", replace, str(session_path))
        manager = self._runtime.manager
        if not Path(manager.cwd).is_dir():  # noqa: ASYNC240 - one look at the disk
            manager.notice(
                f"The folder of this session is gone: {manager.cwd!r}. Its tools work in {str(self._runtime.cwd)!r}. "
                f"To keep it here, continue in a copy: --fork {manager.file or manager.id}"
            )
        return True

    async def import_file(self, path: str | Path) -> bool:
        """Copy a session file into the store and open the copy; see ``AgentSession.import_from_jsonl``."""
        return await self.switch(self._runtime.manager.import_copy(path))

    async def clone(self) -> bool:
        """Open a copy of the active branch; see ``AgentSession.clone``."""
        leaf = self._runtime.manager.leaf_id
        if leaf is None:
            raise UserError("Cannot clone session: no current entry selected")
        return not (await self.fork(leaf, "at")).cancelled

    def user_messages(self) -> list[tuple[str, str]]:
        """Return the id and the text of every user message on the branch, oldest first."""
        pairs = ((each.id, getattr(each, "message", None)) for each in self._runtime.manager.get_branch())
        return [(entry_id, message.text) for entry_id, message in pairs if isinstance(message, UserMessage)]

    async def set_name(self, name: str | None) -> None:
        """Name the session; None or an empty text removes the name."""
        self._runtime.manager.append_session_info(name or "")
        await self._runtime.emit(pi_hookspecs.SessionInfoChangedEvent(name=name or None))

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> ForkOutcome:
        """Open a copy of the conversation up to an entry; see ``AgentSession.fork``."""
        runtime, manager = self._runtime, self._runtime.manager
        entry = manager.get_entry(entry_id)
        if entry is None:
            raise UserError(f"Entry {entry_id} not found")
        message = getattr(entry, "message", None)
        if position == "before" and not isinstance(message, UserMessage):
            raise UserError(f"Entry {entry_id} is not a user message; a fork starts before one of the user's messages.")
        if runtime.hooks.listens("session_before_fork"):
            from pi_hookspecs.specs import session as session_specs

            event = pi_hookspecs.SessionBeforeForkEvent(entry_id=entry_id, position=position)
            answer = await runtime.hooks.call(session_specs.session_before_fork, event, runtime.ctx)
            if answer is not None and answer.cancel:
                return ForkOutcome(cancelled=True)

        async def replace() -> None:
            manager.fork(entry_id, position)

        await self._replace("fork", replace)
        selected_text = text_of(message.content) if position == "before" and isinstance(message, UserMessage) else ""
        return ForkOutcome(selected_text=selected_text)

    async def _may_switch(self, reason: Literal["new", "resume"], target: str | None) -> bool:
        runtime = self._runtime
        if not runtime.hooks.listens("session_before_switch"):
            return True
        from pi_hookspecs.specs import session as session_specs

        event = pi_hookspecs.SessionBeforeSwitchEvent(reason=reason, target_session_file=target)
        answer = await runtime.hooks.call(session_specs.session_before_switch, event, runtime.ctx)
        return answer is None or not answer.cancel

    async def _replace(
        self,
        reason: Literal["new", "resume", "fork"],
        replace: Callable[[], Awaitable[None]],
        target: str | None = None,
    ) -> None:
        """Stop running work, emit ``session_shutdown``, replace the conversation, emit ``session_start``.

        If the conversation cannot be replaced, the old conversation, which has just ended for the plugins, begins
        again. If it was replaced and its setup failed, the model gets the content of the new conversation.
        """
        runtime = self._runtime
        await self._lifecycle.start()
        await self._lifecycle.abort("Another session")
        before, former_id = str(runtime.manager.file or "") or None, runtime.manager.id
        if runtime.hooks.listens("session_shutdown"):
            shutdown = pi_hookspecs.SessionShutdownEvent(reason=reason, target_session_file=target)
            await runtime.hooks.notify(shutdown, runtime.ctx)
        self._queue.reset()
        try:
            await replace()
        except BaseException:
            if runtime.manager.id != former_id:
                self._take_branch()
            await self._begin("resume", before)
            raise
        self._take_branch()
        await self._restore(reason)
        await self._notify(reason, before)

    def _take_branch(self) -> None:
        """Use the messages and tools of the session's branch in the model's next request."""
        self._runtime.transcript.take_branch()
        OfferedTools(self._runtime).restore()

    async def _restore(self, reason: Literal["new", "resume", "fork"]) -> None:
        """Restore model and thinking level of a stored conversation, if they are available."""
        runtime = self._runtime
        if reason == "new":
            OfferedTools(runtime).record()
            state = runtime.agent.state
            if state.model is not None and state.model.is_virtual:  # no model has answered in this session
                declared = runtime.models.get_model(state.model.provider, state.model.id)
                state.model = declared or state.model  # the next prompt reports a plugin that is gone
            return
        if reason == "resume" and restore_interrupted(runtime.manager):
            self._take_branch()
        current = runtime.agent.state.model
        model = restored_model(runtime.manager, runtime.models, lambda: current)
        if model is not None and (current is None or model.reference != current.reference):
            await self._models.set_model(model, "restore", persist=False)
        elif model is not None and model.is_virtual:  # the limits are those of the model that answered here last
            runtime.agent.state.model = model
        level = restored_level(runtime.manager)
        if level is not None:
            await self._models.set_level(level, persist=False, note=False)

    async def _notify(self, reason: Literal["new", "resume", "fork"], before: str | None) -> None:
        runtime = self._runtime
        if reason == "fork":
            forked = partial(pi_hookspecs.SessionForkEvent, previous_session_file=before)
            await runtime.announce("session_fork", forked)
        else:
            switched = partial(pi_hookspecs.SessionSwitchEvent, reason=reason, previous_session_file=before)
            await runtime.announce("session_switch", switched)
        await self._begin(reason, before)

    async def _begin(self, reason: Literal["new", "resume", "fork"], before: str | None) -> None:
        runtime = self._runtime
        started = partial(pi_hookspecs.SessionStartEvent, reason=reason, previous_session_file=before)
        await runtime.announce("session_start", started)
        await discover_resources(runtime, "startup")
