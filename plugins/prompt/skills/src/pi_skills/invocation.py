"""Expands ``/skill:name args``, and lists the skills as commands."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import parse_frontmatter
from pi_hookspecs import CommandInfo, CommandsDiscoverResult, ExpandPromptResult, UnknownName
from pi_skills.settings import COMMANDS

if TYPE_CHECKING:
    from pi_hookspecs import PiContext, Resource

__all__ = ["expanded", "instructions", "invocations"]

_CALL = re.compile(r"/skill:(\S+)(.*)", re.DOTALL)


async def expanded(text: str, ctx: PiContext) -> ExpandPromptResult | None:
    """Return the expansion of ``/skill:name args``; None, and a notice, when there is no such skill."""
    call = _CALL.fullmatch(text)
    if call is None or not _are_commands(ctx):
        return None
    name, arguments = call[1], call[2].strip()
    found = await ctx.resources.load("skill")
    skill = found.get(name)
    if skill is None:
        unknown = UnknownName("skill", name, [each.name for each in found.resources])
        ctx.ui.notify(f"{unknown} (The text is sent unchanged.)", "warning")
        return None
    try:
        block = await instructions(skill)
    except OSError as error:
        ctx.ui.notify(f"{skill.path}: the skill cannot be read: {error.strerror}. The text is sent unchanged", "error")
        return None
    return ExpandPromptResult(text=f"{block}\n\n{arguments}" if arguments else block)


async def invocations(ctx: PiContext) -> CommandsDiscoverResult | None:
    """Return every skill as a command."""
    if not _are_commands(ctx):
        return None
    found = await ctx.resources.load("skill")
    commands = [CommandInfo.of_resource(skill, name=f"skill:{skill.name}") for skill in found.resources]
    return CommandsDiscoverResult(commands=commands)


async def instructions(skill: Resource) -> str:
    """Return the text for the model of a skill to follow.

    Raises:
        OSError: The file cannot be read.
    """
    file = Path(skill.path)
    text = await asyncio.to_thread(file.read_text, encoding="utf-8-sig", errors="replace")
    location = skill.path.replace('"', "&quot;")
    name = skill.name.replace('"', "&quot;")
    return (
        f'<skill name="{name}" location="{location}">\nReferences are relative to {file.parent}.\n\n'
        f"{parse_frontmatter(text).body.strip()}\n</skill>"
    )


def _are_commands(ctx: PiContext) -> bool:
    offered: bool = COMMANDS.read(ctx.settings)
    return offered
