"""Provides a skill, a prompt template and a theme, as files next to this module."""

from pathlib import Path

from pi_hookspecs import ResourcesDiscoverEvent, ResourcesDiscoverResult, hookimpl

HERE = Path(__file__).parent


@hookimpl
def resources_discover(event: ResourcesDiscoverEvent) -> ResourcesDiscoverResult:
    return ResourcesDiscoverResult(
        skill_paths=[str(HERE / "skills")],
        prompt_paths=[str(HERE / "prompts")],
        theme_paths=[str(HERE / "themes")],
    )
