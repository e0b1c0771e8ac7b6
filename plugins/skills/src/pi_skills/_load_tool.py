"""The tool ``load_skill``, for models that have no tool to read files with (document 003, 7.3; decision D43)."""

from __future__ import annotations

from pi_hookspecs import ToolContext, ToolResult, UserError, tool
from pi_skills._invocation import instructions

__all__ = ["load_skill"]


@tool(default_active=False, prompt_snippet="Load the full instructions of a skill")
async def load_skill(name: str, ctx: ToolContext) -> ToolResult:
    """Load the full instructions of a skill.

    Args:
        name: Name of the skill, as it is listed.
        ctx: The session.
    """
    found = await ctx.resources.load("skill")
    skill = found.get(name)
    if skill is None:
        names = ", ".join(each.name for each in found.resources if not each.data.get("hidden"))
        raise UserError(f"Skill not found: {name!r}. There are: {names}" if names else "Skill not found: there is none")
    known = {
        "name": skill.name,
        "description": skill.description,
        "path": skill.path,
        "tools": skill.data.get("allowedTools"),
    }
    return ToolResult.text(await instructions(skill), details={"skill": known})
