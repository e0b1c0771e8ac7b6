"""Compaction of long conversations, and summaries of abandoned branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, PiAPI, PluginSetting, Service

__all__ = ["activate", "register_commands", "register_services", "register_settings"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Subscribe to the boundaries at which the context size is checked."""
    from pi_compaction.triggers import Triggers

    Triggers().listen(pi)


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the compactor and the branch summariser."""
    from pi_compaction.services import Branches, Summaries

    return [Summaries(), Branches()]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/compact``."""
    from pi_compaction.command import compact_command

    return [compact_command()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``compaction.*``."""
    from pi_compaction.settings import SETTINGS

    return SETTINGS
