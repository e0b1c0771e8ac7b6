"""Adds ``pi batch``: runs many tasks, each in a separate directory, with checks, retries and a checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["register_subcommands"]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi batch``."""
    return [Subcommand("batch", run=_batch, description="Run many tasks from a file, each in its own folder")]


def _batch(arguments: list[str], host: Any) -> int:
    from pi_batch.command import run

    return run(arguments, host)
