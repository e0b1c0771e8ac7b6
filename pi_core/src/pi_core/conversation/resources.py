"""The resources of a session: plugins add paths, and problems are reported to the subscribers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pi_hookspecs.specs import session as session_specs

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_core.conversation.runtime import Runtime
    from pi_hookspecs import ResourceLoader

__all__ = ["discover_resources", "reload_resources", "report_problems"]


async def discover_resources(runtime: Runtime, reason: Literal["startup", "reload"]) -> None:
    """Ask the plugins for additional paths."""
    if not runtime.hooks.listens("resources_discover"):
        return
    from pi_hookspecs import ResourcesDiscoverEvent

    event = ResourcesDiscoverEvent(cwd=str(runtime.cwd), reason=reason)
    for plugin, answer in await runtime.hooks.call_each(session_specs.resources_discover, event, runtime.ctx):
        runtime.resources.extend("skill", answer.skill_paths, plugin)
        runtime.resources.extend("prompt", answer.prompt_paths, plugin)
        runtime.resources.extend("theme", answer.theme_paths, plugin)


async def reload_resources(runtime: Runtime) -> None:
    """Load all resources again."""
    await runtime.resources.reload()
    await discover_resources(runtime, "reload")


def report_problems(resources: ResourceLoader, report: Callable[[str, str, str], None]) -> None:
    """Report files that cannot be used."""
    loader: Any = resources
    if hasattr(loader, "on_problem"):
        loader.on_problem = lambda problem: report("(resources)", problem.kind, str(problem))
