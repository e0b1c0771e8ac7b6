"""Makes long conversations short: compaction, and summaries of branches that are left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, PiAPI, Service

__all__ = ["activate", "register_commands", "register_services"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Watch this session's size at every boundary."""
    from pi_compaction._triggers import Triggers

    Triggers().listen(pi)


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the compactor and the summariser of branches."""
    from pi_compaction._services import Branches, Summaries

    return [Summaries(), Branches()]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/compact``."""
    from pi_compaction._command import compact_command

    return [compact_command()]
