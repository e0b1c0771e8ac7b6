"""Adds ``pi replay``: sends a stored session's prompts again, and compares the result with the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["register_subcommands"]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi replay``."""
    return [Subcommand("replay", run=_run, description="Replay a stored session, and compare the answers")]


def _run(arguments: list[str], host: Any) -> int:
    from pi_replay.command import run

    return run(arguments, host)
