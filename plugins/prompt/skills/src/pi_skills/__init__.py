"""Skills: instructions in files that are listed in the system prompt and read when a task needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import (
        CommandsDiscoverResult,
        ExpandPromptEvent,
        ExpandPromptResult,
        PiAPI,
        PiContext,
        PluginSetting,
        ResourceKind,
        SystemPromptEvent,
        SystemPromptResult,
        Tool,
    )

__all__ = [
    "activate",
    "commands_discover",
    "expand_prompt",
    "register_resource_kinds",
    "register_settings",
    "register_tools",
    "system_prompt",
]


@hookimpl
def register_resource_kinds() -> Sequence[ResourceKind]:
    """Add the kind of skill files."""
    from pi_hookspecs import ResourceKind
    from pi_skills.skill_file import is_skill, read_skill

    return [
        ResourceKind("skill", read=read_skill, folder="skills", shared_folder=True, recursive=True, accepts=is_skill)
    ]


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add ``load_skill``, which is not active by default."""
    from pi_skills.load_tool import load_skill_tool

    return [load_skill_tool()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``enableSkillCommands`` and ``enableSkillCreation``."""
    from pi_skills.settings import SETTINGS

    return SETTINGS


@hookimpl
def activate(pi: PiAPI) -> None:
    """Register ``create_skill`` where the settings allow it."""
    offered = False

    @pi.on("session_start")
    def offer(ctx: PiContext) -> None:
        nonlocal offered
        if not offered and ctx.settings.get_bool("enableSkillCreation", default=False):
            from pi_skills.create_tool import create_skill

            offered = True
            pi.register_tool(create_skill)


@hookimpl
async def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """List the skills, if there is a tool to read them with."""
    from pi_skills.prompt_section import list_for, reading_tool

    tool = reading_tool(event.tools)
    if tool is None:
        return None
    text = list_for(await ctx.resources.load("skill"), tool)
    if not text:
        return None
    from pi_hookspecs import PromptSection, SystemPromptResult

    return SystemPromptResult(sections=[PromptSection(name="skills", text=text)])


@hookimpl
async def expand_prompt(event: ExpandPromptEvent, ctx: PiContext) -> ExpandPromptResult | None:
    """Replace ``/skill:name`` by the skill."""
    if not event.text.startswith("/skill:"):
        return None
    from pi_skills.invocation import expanded

    return await expanded(event.text, ctx)


@hookimpl
async def commands_discover(ctx: PiContext) -> CommandsDiscoverResult | None:
    """List ``/skill:name`` for every skill."""
    from pi_skills.invocation import invocations

    return await invocations(ctx)
