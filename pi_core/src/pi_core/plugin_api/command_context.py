"""The part of ``ctx`` for commands: switching sessions, navigating the tree, reloading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_core.conversation.handles import Handle
from pi_core.hooks.running_call import is_in_hook
from pi_hookspecs import AgentBusy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pi_core.conversation.parts import Parts
    from pi_hookspecs import SessionChange, TreeNavigation

__all__ = ["CommandContext", "check_started"]


class CommandContext(Handle):
    """Implements ``CommandActions``."""

    _parts: Parts

    async def wait_for_idle(self) -> None:
        """Return when no prompt is being answered."""
        await self._outside_prompt("wait until the agent is idle").lifecycle.wait_for_idle()

    async def new_session(
        self, *, parent_session: str | None = None, setup: Callable[[Any], Awaitable[None] | None] | None = None
    ) -> SessionChange:
        """Begin a new conversation."""
        parts = self._started("begin another session")
        return _change(done=await parts.switcher.new(parent_session=parent_session, setup=setup))

    async def fork(self, entry_id: str, *, position: Literal["before", "at"] = "before") -> SessionChange:
        """Open a copy of the conversation."""
        from pi_hookspecs import SessionChange

        outcome = await self._started("fork the session").switcher.fork(entry_id, position)
        return SessionChange(cancelled=outcome.cancelled, selected_text=outcome.selected_text)

    async def switch_session(self, session_path: str | Path) -> SessionChange:
        """Open a stored conversation."""
        return _change(done=await self._started("switch the session").switcher.switch(session_path))

    async def navigate_tree(
        self,
        target_id: str,
        *,
        summarize: bool = False,
        custom_instructions: str | None = None,
        replace_instructions: bool = False,
        label: str | None = None,
    ) -> TreeNavigation:
        """Continue from another entry."""
        return await self._started("walk the tree").tree.navigate(
            target_id,
            summarize=summarize,
            custom_instructions=custom_instructions,
            replace_instructions=replace_instructions,
            label=label,
        )

    async def reload(self) -> None:
        """Load local extensions again and activate all plugins again."""
        parts = self._parts
        if parts.is_reloading and is_in_hook():
            raise AgentBusy("A hook of a reload cannot reload the plugins: the reload would wait for itself.")
        check_started(parts, "reload the plugins")
        await parts.reloader.reload()

    def _started(self, what: str) -> Parts:
        parts = self._outside_prompt(what)
        check_started(parts, what)
        return parts

    def _outside_prompt(self, what: str) -> Parts:
        """Return the parts; raise inside a prompt, since the action would wait for this prompt: a deadlock."""
        parts = self._parts
        if parts.runtime.gate.is_inside_prompt():
            raise AgentBusy(
                f"A hook inside a prompt cannot {what}: the prompt would wait for itself. Do it in a command,"
                " or in a separate task."
            )
        return parts


def check_started(parts: Parts, what: str) -> None:
    """Raise inside the start of the session, for which the action would wait: a deadlock."""
    if parts.lifecycle.is_inside_start():
        raise AgentBusy(
            f"A handler of session_start cannot {what}: the start would wait for itself. Do it in a command,"
            " or when the first prompt begins (before_agent_start)."
        )


def _change(*, done: bool) -> SessionChange:
    from pi_hookspecs import SessionChange

    return SessionChange(cancelled=not done)
