"""Expands ``/name args``, and lists the templates."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from pi_core import parse_frontmatter
from pi_hookspecs import CommandInfo, CommandsDiscoverResult, ExpandPromptResult
from pi_prompt_templates.arguments import split_arguments, substitute

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["expanded", "invocations"]

_CALL = re.compile(r"/(\S+)(.*)", re.DOTALL)


async def expanded(text: str, ctx: PiContext) -> ExpandPromptResult | None:
    """Return the expansion of a text that begins with a slash; None when it names no template."""
    call = _CALL.fullmatch(text)
    template = (await ctx.resources.load("prompt")).get(call[1]) if call is not None else None
    if call is None or template is None:
        return None
    try:
        written = await asyncio.to_thread(Path(template.path).read_text, encoding="utf-8-sig", errors="replace")
    except OSError as error:
        message = f"{template.path}: the template cannot be read: {error.strerror}. The text is sent unchanged"
        ctx.ui.notify(message, "error")
        return None
    body = parse_frontmatter(written).body.strip()
    return ExpandPromptResult(text=substitute(body, split_arguments(call[2].strip())))


async def invocations(ctx: PiContext) -> CommandsDiscoverResult:
    """Return every template as a command."""
    found = await ctx.resources.load("prompt")
    return CommandsDiscoverResult(
        commands=[
            CommandInfo.of_resource(each, argument_hint=each.data.get("argumentHint")) for each in found.resources
        ]
    )
