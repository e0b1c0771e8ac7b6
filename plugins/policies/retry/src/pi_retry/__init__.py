"""Retries failed requests: transient errors with exponential backoff, then the failover models that the user names.

A request that a provider refuses is sent again without the part that it refuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PiContext, PluginSetting, Service

__all__ = ["activate", "register_services", "register_settings"]


@hookimpl
def activate(pi: PiAPI) -> None:
    """Add ``/left-out``, whose code is loaded when it runs."""

    async def run(args: str, ctx: PiContext) -> None:
        from pi_retry.command import left_out

        await left_out(args, ctx, pi)

    pi.register_command(
        "left-out",
        run,
        description="Show what a provider refused and requests leave out: /left-out, /left-out back [NUMBER]",
        touches=(),
    )


@hookimpl
def register_services() -> Sequence[Service]:
    """Provide the retry policy."""
    from pi_retry.policy import Backoff

    return [Backoff()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``retry.*``."""
    from pi_retry.settings import SETTINGS

    return SETTINGS
