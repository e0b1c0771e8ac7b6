"""Adds ``pi acp``: pi as an agent inside editors that speak the Agent Client Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PluginSetting

__all__ = ["register_settings", "register_subcommands"]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi acp``."""
    description = "Serve an editor: the Agent Client Protocol on stdin and stdout"
    return [Subcommand("acp", run=_run, description=description, takes_options=True)]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``acp.terminal``."""
    from pi_acp.settings import TERMINAL

    return [TERMINAL]


def _run(arguments: list[str], host: Any) -> int:
    from pi_acp.command import run

    return run(arguments, host)
