"""Whether a sandbox was asked for; most sessions pay for these three looks and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["is_asked_for"]


def is_asked_for(ctx: PiContext) -> bool:
    """Return whether ``--sandbox`` was given or the settings have something about it, readable or not."""
    settings = ctx.settings
    asked = ctx.get_flag("sandbox"), settings.get("sandbox"), settings.unread("sandbox")
    return asked != (None, None, None)
