"""Removes keys and passwords from everything that pi stores. On by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import Command, PiAPI, PiContext, PluginSetting, Service, SessionStartEvent, Subcommand

__all__ = ["activate", "register_commands", "register_services", "register_settings", "register_subcommands"]


@hookimpl
def register_commands() -> list[Command]:
    """Provide ``/redact``."""
    from pi_hookspecs import Command
    from pi_redact.status import show_status

    return [
        Command(
            "redact", handler=show_status, description="Show which secrets are redacted in stored files", touches=()
        )
    ]


@hookimpl
def register_services() -> list[Service]:
    """Redact texts that pi and plugins write."""
    from pi_redact.service import Funnel

    return [Funnel()]


@hookimpl
def register_subcommands() -> list[Subcommand]:
    """Provide ``pi redact``."""
    from pi_hookspecs import Subcommand
    from pi_redact.subcommand import run_subcommand

    return [Subcommand("redact", run=run_subcommand, description="Find secrets in session files, or remove them")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``redact.*``."""
    from pi_redact.settings import SETTINGS

    return SETTINGS


@hookimpl
def activate(pi: PiAPI) -> None:
    """Add the handlers of a session; what they need is imported when the first entry is stored."""
    off: list[Callable[[], None]] = []

    @pi.on("session_start")
    def start(_event: SessionStartEvent, ctx: PiContext) -> None:
        while off:  # those of the session before
            off.pop()()
        if ctx.settings.get("redact.enabled") is False:
            return
        from pi_redact.session import handlers

        off.extend(pi.on(name, handler) for name, handler in handlers(ctx).items())
