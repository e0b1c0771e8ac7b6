"""Checkpoints of the work tree, and ``/rewind``: files and conversation go back together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PluginSetting, Subcommand

__all__ = ["activate", "pi_when", "register_settings", "register_subcommands"]

pi_when = {"files": [".../.git"], "settings": ["rewind.enabled"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Make checkpoints in the session, from its first prompt on, and provide ``/rewind``."""
    from pi_rewind.recording import Recording

    Recording(pi).listen()


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Provide ``pi rewind``."""
    from pi_hookspecs import Subcommand

    def run(arguments: list[str], host: Any) -> int:
        from pi_rewind.subcommand import run_subcommand

        return run_subcommand(arguments, host)

    return [Subcommand("rewind", run=run, description="Restore files and conversation to before a prompt")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``rewind.enabled`` and ``rewind.include``."""
    from pi_rewind.places import SETTINGS

    return SETTINGS
