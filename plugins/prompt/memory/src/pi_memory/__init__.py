"""Memory: MEMORY.md in the system prompt, and tools that add and remove entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import (
        PiAPI,
        PiContext,
        PluginSetting,
        ProjectFile,
        ResourceKind,
        SystemPromptEvent,
        SystemPromptResult,
    )

__all__ = ["activate", "register_project_files", "register_resource_kinds", "register_settings", "system_prompt"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Offer ``remember`` and ``forget`` in sessions that have a memory."""
    from pi_memory.offer import Offer

    pi.on("session_start", Offer(pi).session_start)


@hookimpl
def register_project_files() -> Sequence[ProjectFile]:
    """Name the file that is put into the prompt of every later session."""
    from pi_hookspecs import ProjectFile
    from pi_memory.places import NAME

    return [ProjectFile(NAME)]


@hookimpl
def register_resource_kinds() -> Sequence[ResourceKind]:
    """Add the kind ``memory``."""
    from pi_memory.kind import memory_kind

    return [memory_kind()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``memory.enabled``."""
    from pi_memory.offer import ENABLED

    return [ENABLED]


@hookimpl
async def system_prompt(event: SystemPromptEvent, ctx: PiContext) -> SystemPromptResult | None:
    """Add the files' text."""
    from pi_memory.places import exists_any

    del event
    if not exists_any(ctx):  # most sessions have no memory: two checks of files are all they pay
        return None
    from pi_memory.section import section

    return await section(ctx)
