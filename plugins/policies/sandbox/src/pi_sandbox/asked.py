"""Whether a sandbox was requested; most sessions pay only for these three lookups."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["is_asked_for"]


def is_asked_for(ctx: PiContext) -> bool:
    """Return whether ``--sandbox`` was given or any settings file, readable or not, mentions the sandbox."""
    settings = ctx.settings
    asked = ctx.get_flag("sandbox"), settings.get("sandbox"), settings.unread("sandbox")
    return asked != (None, None, None)
