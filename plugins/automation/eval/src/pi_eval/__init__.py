"""Adds ``pi eval``: prompts with checks, run several times and compared with a baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["register_subcommands"]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi eval``."""
    return [Subcommand("eval", run=_evaluate, description="Evaluate prompts: repeated runs, checks, a baseline")]


def _evaluate(arguments: list[str], host: Any) -> int:
    from pi_eval.command import run

    return run(arguments, host)
