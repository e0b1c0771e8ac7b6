"""Builds a session's system prompt and calls the hook ``system_prompt``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.system_prompt import PromptInputs, SystemPrompt, SystemPromptBuilder
    from pi_hookspecs import PiContext, SystemPromptEvent, SystemPromptResult

__all__ = ["SystemPrompts"]


class SystemPrompts:
    """The system prompts of one session.

    Args:
        builder: Builds the prompts; it has the user's options and the plugins' last results.
        inputs: Returns the current inputs of the prompt.
        hooks: Calls the hooks.
        ctx: Returns the ``ctx`` that they get.
    """

    def __init__(
        self,
        builder: SystemPromptBuilder,
        inputs: Callable[[], PromptInputs],
        hooks: HookDispatcher,
        ctx: Callable[[], PiContext],
    ) -> None:
        self._builder = builder
        self._inputs = inputs
        self._hooks = hooks
        self._ctx = ctx

    async def build(self) -> SystemPrompt:
        """Call the plugins and return the prompt for the active tools; the same object until something changes."""
        listens = self._hooks.listens(agent_specs.system_prompt.__name__)
        return await self._builder.build(self._inputs(), self._ask if listens else None)

    def build_cached(self) -> SystemPrompt:
        """Return the prompt for the active tools with the plugins' last results, without calling the plugins."""
        return self._builder.build_cached(self._inputs())

    async def _ask(self, event: SystemPromptEvent) -> Sequence[tuple[str, SystemPromptResult]]:
        return await self._hooks.call_each(agent_specs.system_prompt, event, self._ctx())
