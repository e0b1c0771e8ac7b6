"""Limits what may be used: money, tokens, requests, time, tool calls; and keeps a ledger of what each request used.

Without a limit a session writes the ledger's lines, and imports nothing for it before its first answer is complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_budgets.hooks import Hooks
    from pi_hookspecs import (
        ChildSessionEndEvent,
        ChildSessionStartEvent,
        Command,
        Flag,
        ModelUsageEvent,
        PiAPI,
        PiContext,
        PluginSetting,
        SessionStartEvent,
        Subcommand,
    )

__all__ = [
    "activate",
    "child_session_end",
    "child_session_start",
    "model_usage",
    "register_commands",
    "register_flags",
    "register_settings",
    "register_subcommands",
]


@hookimpl
def register_flags() -> list[Flag]:
    """Provide ``--max-cost``, ``--max-time`` and ``--max-turns``."""
    from pi_hookspecs import Flag

    return [
        Flag("max-cost", type="string", description="Stop at this cost in dollars, such as 2.50"),
        Flag("max-time", type="string", description="Stop after this time, such as 90s, 10m or 1h30m"),
        Flag("max-turns", type="string", description="Stop after this many answers of the model"),
    ]


@hookimpl
def register_commands() -> list[Command]:
    """Provide ``/budget``."""
    from pi_budgets.status import show_budgets
    from pi_hookspecs import Command

    return [Command("budget", handler=show_budgets, description="Show usage against each limit", touches=())]


@hookimpl
def register_subcommands() -> list[Subcommand]:
    """Provide ``pi usage``."""
    from pi_budgets.subcommand import run_subcommand
    from pi_hookspecs import Subcommand

    return [Subcommand("usage", run=run_subcommand, description="Show usage and cost by day, model, plugin or project")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``budgets.*``."""
    from pi_budgets.settings import SETTINGS

    return SETTINGS


@hookimpl
def model_usage(event: ModelUsageEvent, ctx: PiContext) -> None:
    """Write the ledger's line of a request."""
    from pi_budgets.usage import record_usage

    record_usage(event, ctx)


@hookimpl
def child_session_start(event: ChildSessionStartEvent, ctx: PiContext) -> None:
    """Remember whose budgets a child session uses."""
    from pi_budgets.family import know_child

    know_child(event.child.id, event.child.label, ctx)


@hookimpl
def child_session_end(event: ChildSessionEndEvent) -> None:
    """Forget a child session."""
    from pi_budgets.family import forget_child

    forget_child(event.child.id)


@hookimpl
def activate(pi: PiAPI) -> None:
    """Attach to sessions that have limits; other sessions only pay for reading settings and options."""
    hooks: Hooks | None = None

    @pi.on("session_start")
    def start(_event: SessionStartEvent, ctx: PiContext) -> None:
        nonlocal hooks
        wanted = _is_limited(ctx)
        if hooks is None and wanted:
            from pi_budgets.hooks import Hooks

            hooks = Hooks(pi)
        if hooks is not None:
            hooks.start(ctx, wanted=wanted)


def _is_limited(ctx: PiContext) -> bool:
    """Return whether any limit may apply."""
    if any(ctx.get_flag(name) is not None for name in ("max-cost", "max-time", "max-turns")):
        return True
    settings = ctx.settings
    if settings.get("budgets") is not None or settings.unread("budgets") is not None:
        return True
    return settings.get(("guardrails", "limits")) is not None
