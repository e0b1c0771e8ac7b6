"""Stores the system prompt and the tools in the session whenever they change.

The record is a system message in front of the turn that it holds for, so that a transcript says what the model knew. It
is read by people and by other programs; a request is made from the session's own prompt and tools.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_core.conversation.runtime import Runtime
    from pi_core.session.instructions import Instructions
    from pi_core.system_prompt import SystemPrompt
    from pi_hookspecs import Tool

__all__ = ["PromptRecord"]

_OF_THE_RUN = "run"
"""Name of the section that holds what a plugin, or the call of a program, put behind the prompt for one run."""

_REPLACED = "preamble"
"""Name of the section of a prompt that is not made of ours."""


class PromptRecord:
    """Keeps the record of one session.

    Args:
        runtime: Has the prompt and the tools.

    Attributes:
        base: The prompt as it was built for the run, before plugins changed its text.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._seen: tuple[str, tuple[Tool, ...], Instructions] | None = None
        self.base: SystemPrompt | None = None

    def update(self) -> None:
        """Append a record where the branch does not say already what the next request will."""
        manager, state = self._runtime.manager, self._runtime.agent.state
        recorded = manager.recorded_instructions()
        now = (state.system_prompt, state.tools, recorded)
        if self._seen is not None and all(map(is_, self._seen, now)):
            return
        from pi_core.agent.declarations import tool_declaration
        from pi_core.wire.converter import to_wire

        base = self.base or self._runtime.prompts.build_cached()
        redact = self._runtime.models.auth.redaction().redact_known  # a prompt holds files and answers of plugins
        tools = redact([to_wire(tool_declaration(tool)) for tool in state.tools])
        record = recorded.record_of(redact(_sections(state.system_prompt, base)), tools)
        if record is not None:
            manager.append_message(record)
            recorded = manager.recorded_instructions()
        self._seen = (state.system_prompt, state.tools, recorded)


def _sections(text: str, base: SystemPrompt) -> dict[str, str]:
    """Return a prompt as the sections that it was built of, and what was put behind them."""
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
