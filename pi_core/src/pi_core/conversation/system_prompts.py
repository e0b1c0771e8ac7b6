"""Builds a session's system prompt, and stores it with the tools whenever they change.

The record is a system message before the turn to which it applies, so that a transcript shows what the model knew. It
is for users and other programs; a request uses the session's own prompt and tools.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from pi_hookspecs.specs import agent as agent_specs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.runtime import Runtime
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_core.session.instructions import Instructions
    from pi_core.system_prompt import PromptInputs, SystemPrompt, SystemPromptBuilder
    from pi_hookspecs import PiContext, SystemPromptEvent, SystemPromptResult, Tool

__all__ = ["PromptRecord", "SystemPrompts"]


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


_OF_THE_RUN = "run"
"""Name of the section with text that a plugin, or the call of a program, appended to the prompt for one run."""

_REPLACED = "preamble"
"""Name of the single section of a prompt that does not consist of the session's own sections."""


class PromptRecord:
    """Keeps the record of one session.

    Args:
        runtime: Provides the prompt and the tools.

    Attributes:
        base: The prompt that was built for the run, before plugins changed its text.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._seen: tuple[str, tuple[Tool, ...], Instructions] | None = None
        self.base: SystemPrompt | None = None

    def update(self) -> None:
        """Append a record unless the branch already records the prompt and tools of the next request."""
        manager, state = self._runtime.manager, self._runtime.agent.state
        recorded = manager.recorded_instructions()
        now = (state.system_prompt, state.tools, recorded)
        if self._seen is not None and all(map(is_, self._seen, now)):
            return
        from pi_core.agent.declarations import tool_declaration
        from pi_core.wire.converter import to_wire

        base = self.base or self._runtime.prompts.build_cached()
        redact = self._runtime.models.auth.redaction().redact_known  # a prompt contains files and answers of plugins
        tools = redact([to_wire(tool_declaration(tool)) for tool in state.tools])
        record = recorded.record_of(redact(_sections(state.system_prompt, base)), tools)
        if record is not None:
            manager.append_message(record)
            recorded = manager.recorded_instructions()
        self._seen = (state.system_prompt, state.tools, recorded)


def _sections(text: str, base: SystemPrompt) -> dict[str, str]:
    """Return a prompt as the sections of which it was built, and the text appended to them."""
    if not text.startswith(base.text):
        return {_REPLACED: text} if text else {}
    sections: dict[str, str] = {}
    for part in base.parts:
        sections[part.section] = sections.get(part.section, "") + part.text
    sections = {name: each.strip("\n") for name, each in sections.items()}
    added = text[len(base.text) :].strip("\n")
    if added:
        sections[_OF_THE_RUN] = added
    return sections
