"""Adds AGENTS.md, CLAUDE.md and what it imports, SYSTEM.md and APPEND_SYSTEM.md to the system prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiContext, ProjectFile, ResourceKind, SystemPromptEvent, SystemPromptResult

__all__ = ["register_project_files", "register_resource_kinds", "system_prompt"]


@hookimpl
def register_project_files() -> Sequence[ProjectFile]:
    """Name the files that are put into the prompt."""
    from pi_context_files.discovery import FOLLOWED
    from pi_hookspecs import ProjectFile

    return [ProjectFile(name) for name in FOLLOWED]


@hookimpl
def register_resource_kinds() -> Sequence[ResourceKind]:
    """Add the kinds ``context``, ``system`` and ``append-system``."""
    from pi_context_files.kinds import kinds

    return kinds()


@hookimpl
async def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Add the files' text, unless options of the user replace SYSTEM.md and APPEND_SYSTEM.md."""
    from pi_context_files.sections import sections

    return await sections(event, ctx)
