"""The tool ``create_skill``: the model writes a skill. Off by default."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from pi_hookspecs import (
    Approval,
    ResourceFile,
    ToolContext,
    ToolResult,
    UserError,
    approval_choices,
    tool,
    unanswered_reason,
)
from pi_skills.skill_file import read_skill

__all__ = ["create_skill"]


@tool(execution_mode="sequential", prompt_snippet="Write down a way of working as a skill, for later sessions")
async def create_skill(name: str, description: str, body: str, ctx: ToolContext) -> ToolResult:
    """Write down how something is done as a skill, which this and later sessions will find.

    Only do this when the user asks for it, or agreed.

    Args:
        name: At most 64 of a-z, 0-9 and single hyphens.
        description: One sentence: what the skill is for and when to use it. At most 1024 characters.
        body: The instructions, in Markdown.
        ctx: The session.
    """
    path = Path(ctx.settings.agent_dir, "skills", name, "SKILL.md")
    text = _checked(path, name, description, body)
    known = (await ctx.resources.load("skill")).get(name)
    if known is not None:
        raise UserError(f"The skill {name!r} already exists: {known.path}. Change that file, or choose another name")
    if ctx.has_ui and not await _is_allowed(name, path, text, ctx):
        unanswered = unanswered_reason()
        not_wanted = f"The user does not want the skill {name!r}"
        raise UserError(f"The skill {name!r} was not created: {unanswered}" if unanswered else not_wanted)
    await asyncio.to_thread(_write, path, text)
    return ToolResult.text(f"Created the skill {name!r} in {path}", details={"name": name, "path": str(path)})


async def _is_allowed(name: str, path: Path, text: str, ctx: ToolContext) -> bool:
    why = "The model wants to save it for this and later sessions, which follow it when it applies."
    means = f"it is written to {path}"
    approval = Approval(f"Create the skill {name!r}?", what=text, why=why, choices=approval_choices(once=means))
    return await ctx.ui.approve(approval, signal=ctx.signal) is not None


def _checked(path: Path, name: str, description: str, body: str) -> str:
    """Return the file's text, after validating it with the parser of skills."""
    if not body.strip():
        raise UserError("body is empty: a skill needs instructions")
    quoted = (json.dumps(each, ensure_ascii=False) for each in (name, description))  # valid YAML, too
    text = "---\nname: {}\ndescription: {}\n---\n\n{}\n".format(*quoted, body.strip())
    file = ResourceFile(path=str(path), scope="user", source="auto", base_dir=str(path.parent))
    read = read_skill(file, text)
    problems = [each.message for each in read.problems]
    if not problems and read.name != name:
        problems = [f"name {name!r} would be read as {read.name!r}"]
    if problems:
        raise UserError(f"Cannot create the skill: {'; '.join(problems)}")
    return text


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(text.encode("utf-8", errors="replace"))
    except FileExistsError as error:
        raise UserError(f"{path} already exists; it was not changed") from error
