"""Offers the tools in sessions that have agents, and lists the agents in the system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_agents.kind import KIND
from pi_agents.settings import MAX_DEPTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_agents.crew import Crew
    from pi_hookspecs import (
        AgentSettledEvent,
        PiAPI,
        PiContext,
        SessionShutdownEvent,
        SessionStartEvent,
        SystemPromptEvent,
        SystemPromptResult,
    )

__all__ = ["Offer"]


class Offer:
    """Adds tools and command while a session has agents; what they need is imported then.

    Args:
        pi: Where they are added.
    """

    def __init__(self, pi: PiAPI) -> None:
        self._pi = pi
        self._crew: Crew | None = None
        self._take_away: list[Callable[[], None]] = []
        self._reported: set[str] = set()

    def listen(self) -> None:
        """Add the handlers."""
        for handler in (self.session_start, self.session_shutdown, self.system_prompt, self.agent_settled):
            self._pi.on(handler.__name__, handler)

    async def session_start(self, _event: SessionStartEvent, ctx: PiContext) -> None:
        """Look for agents: another session may be of another project."""
        while self._take_away:
            self._take_away.pop()()
        if ctx.depth >= MAX_DEPTH or not await _has_agents(ctx):
            return
        from pi_agents.commands import command_options
        from pi_agents.crew import Crew
        from pi_agents.tools import tools_of

        self._crew = crew = Crew(self._pi)
        self._take_away += [self._pi.register_tool(tool) for tool in tools_of(crew)]
        handler, options = command_options(crew)
        self._take_away.append(self._pi.register_command("agents", handler, **options))

    async def session_shutdown(self, _event: SessionShutdownEvent, _ctx: PiContext) -> None:
        """Stop the agents, and wait until their work is kept."""
        if self._crew is not None:
            await self._crew.close()
            self._crew = None

    def agent_settled(self, event: AgentSettledEvent, _ctx: PiContext) -> None:
        """Stop the agents in the background, too, when the user aborts."""
        if event.aborted and self._crew is not None:
            self._crew.stop_all("The user aborted")

    async def system_prompt(self, event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
        """List the agents that can be used."""
        if self._crew is None or "task" not in event.tools:
            return None
        from pi_agents.roster import roster, section

        found = await roster(ctx, self._crew.known_tools())
        for problem in found.problems.values():
            if problem not in self._reported:
                self._reported.add(problem)
                ctx.ui.notify(problem, "warning")
        return section(found)


async def _has_agents(ctx: PiContext) -> bool:
    enabled = ctx.settings.get_bool("agents.enabled", default=None)
    return bool((await ctx.resources.load(KIND)).resources) if enabled is None else enabled
