"""A session's resources: plugins are asked where else to look, and problems are told to whoever listens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_hookspecs.specs import session as session_specs

if TYPE_CHECKING:
    from pi_core.conversation.session import AgentSession

__all__ = ["discover_resources", "reload_resources", "tell_of_problems"]


async def discover_resources(session: AgentSession, reason: Literal["startup", "reload"]) -> None:
    """Ask the plugins for further paths."""
    if not session.hooks.listens("resources_discover"):
        return
    from pi_hookspecs import ResourcesDiscoverEvent

    event = ResourcesDiscoverEvent(cwd=str(session.cwd), reason=reason)
    for plugin, answer in await session.hooks.call_each(session_specs.resources_discover, event, session.ctx):
        session.resources.extend("skill", answer.skill_paths, plugin)
        session.resources.extend("prompt", answer.prompt_paths, plugin)
        session.resources.extend("theme", answer.theme_paths, plugin)


async def reload_resources(session: AgentSession) -> None:
    """Look for everything anew."""
    await session.resources.reload()
    await discover_resources(session, "reload")


def tell_of_problems(session: AgentSession) -> None:
    """Let the session's subscribers hear of files that cannot be used."""
    loader: Any = session.resources
    if hasattr(loader, "on_problem"):
        loader.on_problem = lambda problem: session.complain("(resources)", problem.kind, str(problem))
