"""The tool ``load_skill``, for models that have no tool to read files with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Tool, ToolResult

if TYPE_CHECKING:
    from pi_hookspecs import AbortSignal, ToolContext, ToolUpdate

__all__ = ["load_skill_tool"]


def load_skill_tool() -> Tool:
    """Return the tool; it is not active by default."""
    return Tool(  # the decorator would cost every session its imports
        name="load_skill",
        label="Load skill",
        description="Load the full instructions of a skill.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Name of the skill, as it is listed."}},
            "required": ["name"],
            "additionalProperties": False,
        },
        execute=_load,
        prompt_snippet="Load the full instructions of a skill",
        default_active=False,
    )


async def _load(
    _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
) -> ToolResult:
    from pi_hookspecs import UserError
    from pi_skills.invocation import instructions

    found = await ctx.resources.load("skill")
    skill = found.get(params["name"])
    if skill is None:
        names = ", ".join(each.name for each in found.resources if not each.data.get("hidden"))
        raise UserError(f"Skill not found: {params['name']!r}. Available: {names or 'none'}")
    known = {
        "name": skill.name,
        "description": skill.description,
        "path": skill.path,
        "tools": skill.data.get("allowedTools"),
    }
    return ToolResult.text(await instructions(skill), details={"skill": known})
