"""Selects, adds and lists the active tools of the running session."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pi_core.conversation.restore import append_tools, restored_selection, restored_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import Tool, ToolInfo

__all__ = ["OfferedTools"]


class OfferedTools:
    """Updates the agent with the active tools of the toolbox.

    Args:
        runtime: The objects that all parts share.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._is_held = False
        self._named: tuple[Sequence[Tool], frozenset[str]] = (), frozenset()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Offer changes made in the block once, at its end, because plugins may add a hundred tools one by one."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self._offer_if_changed()

    def names(self) -> list[str]:
        """Return the names of the active tools."""
        return [tool.name for tool in self._runtime.toolbox.active()]

    def select(self, names: Sequence[str]) -> None:
        """Activate exactly these tools; see ``AgentSession.set_active_tools_by_name``."""
        toolbox = self._runtime.toolbox
        before = toolbox.loaded, self.names()
        toolbox.select(names)
        if (toolbox.loaded, self.names()) != before:
            self.record()
        self.offer()

    def record(self) -> None:
        """Record the selected tools on the session's branch, if tools were selected."""
        toolbox = self._runtime.toolbox
        if toolbox.loaded or toolbox.chosen is not None:
            append_tools(self._runtime.manager, toolbox.loaded, toolbox.chosen, toolbox.unchosen_custom())

    def restore(self) -> None:
        """Activate exactly those tools that are selected on the session's branch.

        What this run's user selected takes precedence: a list of tools replaces the stored selection, and ``+name`` and
        ``-name`` change it. Without a stored selection, the current one remains, except for deferred tools.
        """
        toolbox, manager = self._runtime.toolbox, self._runtime.manager
        loaded, (active, inactive) = restored_tools(manager), restored_selection(manager)
        if active is not None and toolbox.reselect(active, inactive, loaded):
            self.offer()
        elif active is None and loaded != toolbox.loaded:
            toolbox.load(loaded)
            self.offer()

    def infos(self) -> list[ToolInfo]:
        """Return all tools that can be activated, sorted by name."""
        return list(self._runtime.toolbox.infos())

    def overridden(self, name: str, by: Tool | None) -> ToolInfo | None:
        """Return the tool that was replaced by the offered tool of this name, or by ``by`` if it has this name."""
        toolbox = self._runtime.toolbox
        found = toolbox.overridden(name, by)
        return toolbox.info(found, active=False) if found is not None else None

    def add(self, tool: Tool, plugin: str) -> Callable[[], None]:
        """Add a plugin's tool at run time; return a function that removes it."""
        toolbox = self._runtime.toolbox
        take_away = toolbox.add(tool, plugin)

        def update() -> None:
            if not self._is_held and (tool.name in self._names() or toolbox.may_be_active(tool, plugin)):
                self._offer_if_changed()

        def remove() -> None:
            take_away()
            update()

        update()

        return remove

    def _names(self) -> frozenset[str]:
        """Return the names of the offered tools; a plugin may add hundreds of tools, each of which asks for them."""
        offered = self._runtime.agent.state.tools
        if self._named[0] is not offered:
            self._named = offered, frozenset(each.name for each in offered)
        return self._named[1]

    def _offer_if_changed(self) -> None:
        """Offer the active tools if they have changed; a plugin may add a hundred deferred tools."""
        if self._is_held:
            return
        active, before = self._runtime.toolbox.active(), self._runtime.agent.state.tools
        if len(active) != len(before) or any(new is not old for new, old in zip(active, before, strict=True)):
            self.offer()

    def offer(self) -> None:
        """Offer the currently active tools in the next request."""
        runtime = self._runtime
        runtime.agent.set_tools(runtime.toolbox.active())
        if not runtime.agent.state.is_streaming:
            runtime.agent.set_system_prompt(runtime.prompts.build_cached().text)
