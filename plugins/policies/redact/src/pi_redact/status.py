"""``/redact``: what is known, without the secrets themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["show_status"]


def show_status(_args: str, ctx: PiContext) -> None:
    """Show the user what is replaced, and where."""
    from pi_redact.formats import FORMATS
    from pi_redact.options import read_options

    options = read_options(ctx.settings)
    if options is None:
        ctx.ui.notify("Redaction is off (redact.enabled).")
        return
    sources = sorted({each.source for each in ctx.secrets.known()})
    names = sorted({each.name for each in FORMATS})
    lines = [
        "Kept out of what is stored" + (" and of requests" if options.provider else ""),
        f"Known values: {', '.join(sources) if sources else 'none'}",
        f"Formats: {', '.join(names)}",
        *options.problems,
    ]
    ctx.ui.notify("\n".join(lines))
