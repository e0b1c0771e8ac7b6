"""``/export``: writes the session to a file, in any installed format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Command, PiError

if TYPE_CHECKING:
    from pi_hookspecs import PiContext

__all__ = ["export_command"]


def export_command() -> Command:
    """Return the command."""
    return Command(
        name="export",
        handler=_run,
        description="Export the session to a file: /export [FILE.html | FILE.md | FILE.jsonl]",
        touches=("files",),
    )


async def _run(args: str, ctx: PiContext) -> None:
    name = args.strip()
    if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"":
        name = name[1:-1]  # quoted as in a shell
    try:
        path = await ctx.export(name or None)
    except PiError as error:
        ctx.ui.notify(str(error), "error")
    else:
        ctx.ui.notify(f"Session exported to: {path}")
