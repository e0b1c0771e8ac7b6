"""Adds ``pi help``: the pages of the documentation, in the terminal and without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["register_subcommands"]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi help``."""
    return [Subcommand("help", run=_run, description="Show a page of the documentation, or list the pages")]


def _run(arguments: list[str], _: Any) -> int:
    from pi_help.command import run

    return run(arguments)
