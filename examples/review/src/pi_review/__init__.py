"""Adds `pi review`: findings about a change, with file and line, for people and for CI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_core import PluginHost

__all__ = ["register_subcommands"]


def review(arguments: list[str], host: PluginHost) -> int:
    """Run `pi review`; its modules are imported when it is used, because a subcommand must not slow the start."""
    from pi_review.command import run

    return run(arguments, host)


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add the subcommand."""
    return [Subcommand("review", run=review, description="Review a change: findings with file and line")]
