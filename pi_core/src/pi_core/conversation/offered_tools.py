"""Which tools the model is offered: selected, added and listed while the session runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Tool, ToolInfo

__all__ = ["OfferedTools"]


class OfferedTools:
    """Offers the model the active tools of the toolbox.

    Args:
        runtime: What the conversation is made of.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def names(self) -> list[str]:
        """Return the names of the tools that the model is offered."""
        return [tool.name for tool in self._runtime.toolbox.active()]

    def select(self, names: Sequence[str]) -> None:
        """Offer the model these tools from the next request on; unknown names are ignored."""
        self._runtime.toolbox.select(names)
        self.offer()

    def infos(self) -> list[ToolInfo]:
        """Return every tool that could be offered, by name."""
        toolbox, active = self._runtime.toolbox, set(self.names())
        return [toolbox.info(tool, active=tool.name in active) for tool in toolbox.all()]

    def add(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a tool of a plugin at run time; returns a function that removes it."""
        take_away = self._runtime.toolbox.add(tool, plugin)
        self.offer()

        def remove() -> None:
            take_away()
            self.offer()

        return remove

    def offer(self) -> None:
        """Let the model's next request offer what is active now."""
        runtime = self._runtime
        runtime.agent.set_tools(runtime.toolbox.active())
        if not runtime.agent.state.is_streaming:
            runtime.agent.set_system_prompt(runtime.prompts.build_cached().text)
