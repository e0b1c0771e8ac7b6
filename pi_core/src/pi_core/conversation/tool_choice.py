"""Which tools a session's model is offered: chosen, added and listed while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pi_core.agent.agent import Agent
    from pi_core.conversation.system_prompts import SystemPrompts
    from pi_core.conversation.toolbox import Toolbox
    from pi_core.settings import Settings
    from pi_core.system_prompt import PromptInputs
    from pi_hookspecs import Tool, ToolInfo

__all__ = ["SessionTools"]


class SessionTools:
    """Methods of ``AgentSession`` for its tools."""

    agent: Agent
    cwd: Path
    settings: Settings
    toolbox: Toolbox
    system_prompts: SystemPrompts

    def get_active_tools(self) -> list[str]:
        """Return the names of the tools that the model is offered."""
        return [tool.name for tool in self.toolbox.active()]

    def set_active_tools(self, names: Sequence[str]) -> None:
        """Offer the model these tools from the next request on; names that nobody knows are ignored."""
        self.toolbox.select(names)
        self.use_tools()

    get_active_tool_names = get_active_tools
    set_active_tools_by_name = set_active_tools

    def get_all_tools(self) -> list[ToolInfo]:
        """Return every tool that could be offered, by name."""
        from pi_hookspecs import ToolInfo

        active = set(self.get_active_tools())
        return [
            ToolInfo(
                name=tool.name,
                label=tool.label,
                description=tool.description,
                parameters=tool.parameters,
                plugin=self.toolbox.owner(tool),
                active=tool.name in active,
            )
            for tool in self.toolbox.all()
        ]

    def add_tool(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a tool at run time, on behalf of a plugin; returns how to take it away."""
        take_away = self.toolbox.add(tool, plugin)
        self.use_tools()

        def remove() -> None:
            take_away()
            self.use_tools()

        return remove

    def prompt_inputs(self) -> PromptInputs:
        """Return what the system prompt is built from now."""
        from pi_core.system_prompt import PromptInputs

        date = bool(self.settings.get_bool("systemPrompt.date", default=False))
        return PromptInputs(cwd=self.cwd, tools=self.agent.state.tools, owner=self.toolbox.owner, date=date)

    def use_tools(self) -> None:
        """Let the model's next request offer what is active now."""
        self.agent.set_tools(self.toolbox.active())
        if not self.agent.state.is_streaming:
            self.agent.set_system_prompt(self.system_prompts.known().text)
