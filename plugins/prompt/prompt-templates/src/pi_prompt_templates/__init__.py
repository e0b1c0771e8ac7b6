"""Prompt templates: texts in files that are used with a slash command, ``/review src/main.py``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import (
        CommandsDiscoverResult,
        ExpandPromptEvent,
        ExpandPromptResult,
        PiContext,
        ResourceKind,
    )

__all__ = ["commands_discover", "expand_prompt", "register_resource_kinds"]


@hookimpl
def register_resource_kinds() -> Sequence[ResourceKind]:
    """Add the kind of template files."""
    from pi_hookspecs import ResourceKind
    from pi_prompt_templates.template_file import read_template

    return [ResourceKind("prompt", read=read_template, folder="prompts")]


@hookimpl(after="skills")
async def expand_prompt(event: ExpandPromptEvent, ctx: PiContext) -> ExpandPromptResult | None:
    """Replace ``/name args`` by the template."""
    if not event.text.startswith("/"):
        return None
    from pi_prompt_templates.expansion import expanded

    return await expanded(event.text, ctx)


@hookimpl
async def commands_discover(ctx: PiContext) -> CommandsDiscoverResult | None:
    """List the templates."""
    from pi_prompt_templates.expansion import invocations

    return await invocations(ctx)
