"""From files to sections of the system prompt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pi_hookspecs import PromptSection, SystemPromptResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import PiContext, Resource, SystemPromptEvent

__all__ = ["sections"]

_INTRODUCTION = (
    "Instructions from the user and for this project. What comes later is closer to the work and counts more."
)
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
_OUR_TAGS = re.compile(r"<(?=/?project_(?:context|instructions)\b)", re.IGNORECASE)


async def sections(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Return what the files say; None when there are none.

    Args:
        event: What the user gave with options counts in the place of SYSTEM.md and APPEND_SYSTEM.md.
        ctx: Knows the files.
    """
    load = ctx.resources.load
    context = (await load("context")).resources
    system = () if event.custom_prompt is not None else (await load("system")).resources
    append = () if event.append else (await load("append-system")).resources
    if not (context or system or append):
        return None
    parts = [*_project_context(context), *(_part("addendum", file) for file in append)]
    return SystemPromptResult(sections=parts, base=_part("preamble", system[0]) if system else None)


def _project_context(files: tuple[Resource, ...]) -> Iterator[PromptSection]:
    said = [file for file in files if file.data["text"].strip()]
    if said:
        yield PromptSection(name="project_context", text=_INTRODUCTION)
    for file in said:
        path = "".join(_ESCAPES.get(character, character) for character in file.path)
        body = _OUR_TAGS.sub("&lt;", file.data["text"].strip())  # a file cannot end its own element
        text = f'<project_instructions path="{path}">\n{body}\n</project_instructions>'
        yield PromptSection(name="project_context", text=text, source=file.path)


def _part(name: str, file: Resource) -> PromptSection:
    return PromptSection(name=name, text=file.data["text"].strip(), source=file.path)
