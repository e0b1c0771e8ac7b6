"""What a session does beside answering prompts. Each part is imported when it is first used: most runs use none."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.conversation.compaction import Compacting
    from pi_core.conversation.model_selection import Choices
    from pi_core.conversation.reload import Reloading
    from pi_core.conversation.session import AgentSession
    from pi_core.conversation.switching import Replacing
    from pi_core.conversation.tree import TreeSteps
    from pi_core.conversation.user_bash import UserBash
    from pi_core.plugin_api.activation import Activations
    from pi_core.plugin_api.event_bus import Bus

__all__ = ["SessionParts"]


class SessionParts:
    """The parts of one session.

    Args:
        session: Whose.
    """

    def __init__(self, session: AgentSession) -> None:
        self._session = session
        self._shutdowns: set[asyncio.Task[None]] = set()

    @cached_property
    def compacting(self) -> Compacting:
        """Makes the conversation short."""
        from pi_core.conversation.compaction import Compacting

        return Compacting(self._session)

    @cached_property
    def tree(self) -> TreeSteps:
        """Goes to another place in the tree."""
        from pi_core.conversation.tree import TreeSteps

        return TreeSteps(self._session)

    @cached_property
    def replacing(self) -> Replacing:
        """Puts another conversation in place."""
        from pi_core.conversation.switching import Replacing

        return Replacing(self._session)

    @cached_property
    def bash(self) -> UserBash:
        """Runs the user's commands."""
        from pi_core.conversation.user_bash import UserBash

        return UserBash(self._session)

    @cached_property
    def choices(self) -> Choices:
        """Chooses model and thinking level."""
        from pi_core.conversation.model_selection import Choices

        return Choices(self._session)

    @cached_property
    def activations(self) -> Activations:
        """Holds what plugins have as ``pi``."""
        from pi_core.plugin_api.activation import Activations

        return Activations(self._session)

    @cached_property
    def bus(self) -> Bus:
        """Where plugins tell each other of things."""
        from pi_core.plugin_api.event_bus import Bus

        return Bus(self._session.complain)

    @cached_property
    def reloading(self) -> Reloading:
        """Loads local extensions anew."""
        from pi_core.conversation.reload import Reloading

        return Reloading(self._session)

    async def ready_for_prompt(self) -> None:
        """Return when a prompt may begin: no compaction is going on, and the user's commands have been told."""
        await self.compacted()
        if "reloading" in vars(self):
            await self.reloading.finished()

    @property
    def is_reloading(self) -> bool:
        """Whether a reload is going on."""
        return "reloading" in vars(self) and self.reloading.is_going_on

    async def compacted(self) -> None:
        """Return when no compaction is going on."""
        if "compacting" in vars(self):
            await self.compacting.finished()

    def take_deferred(self) -> None:
        """Make what the user's commands printed part of the conversation, now that no answer is being made."""
        if "bash" in vars(self):
            self.bash.keep_deferred()

    def abort_summaries(self) -> None:
        """Stop a compaction, and the summary of a branch: both change nothing then."""
        if "compacting" in vars(self):
            self.compacting.abort()
        if "tree" in vars(self):
            self.tree.abort()

    def abort_bash(self) -> None:
        """Stop the user's commands that are running."""
        if "bash" in vars(self):
            self.bash.abort()

    def call_at_shutdown(self, handler: Callable[[], Awaitable[None] | None]) -> None:
        """Call a function when a plugin has asked for the end and no prompt is being answered."""

        async def call() -> None:
            await self._session.until_shutdown()
            waiting = handler()
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

        self._shutdowns.add(asyncio.create_task(call()))

    def end(self) -> None:
        """Stop what no abort of a prompt stops: the session ends."""
        for task in self._shutdowns - {asyncio.current_task()}:  # the handler may be what ends it
            task.cancel()
        self.abort_bash()
        if "reloading" in vars(self):
            self.reloading.end()
