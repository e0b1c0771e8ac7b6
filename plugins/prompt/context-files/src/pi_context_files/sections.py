"""From files to sections of the system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core import prompt_element
from pi_hookspecs import PromptSection, SystemPromptResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import PiContext, Resource, SystemPromptEvent

__all__ = ["sections"]

_INTRODUCTION = (
    "Instructions from the user and for this project. What comes later is closer to the work and counts more."
)


async def sections(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Return the files as sections; None when there are none.

    Args:
        event: Its options of the user replace SYSTEM.md and APPEND_SYSTEM.md.
        ctx: Its resources have the files.
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
    nonempty = [file for file in files if file.data["text"].strip()]
    if nonempty:
        yield PromptSection(name="project_context", text=_INTRODUCTION)
    for file in nonempty:
        text = prompt_element("project_instructions", file.data["text"], inside="project_context", path=file.path)
        yield PromptSection(name="project_context", text=text, source=file.path)


def _part(name: str, file: Resource) -> PromptSection:
    return PromptSection(name=name, text=file.data["text"].strip(), source=file.path)
