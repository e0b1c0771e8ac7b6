"""``/processes``: the session's background processes for the user, to read and to stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import Command, UserError

if TYPE_CHECKING:
    from pi_hookspecs import ManagedProcess, PiContext

__all__ = ["processes_command"]

_SHOW, _STOP = "Show its last output", "Stop it"
_SHOWN = 2000
"""Characters of output in a notice."""


def processes_command() -> Command:
    """Return the command."""
    about = "Show background processes, or stop one: /processes stop ID"
    return Command("processes", handler=_processes, description=about)


async def _processes(args: str, ctx: PiContext) -> None:
    words = args.split()
    if words[:1] == ["stop"] and len(words) == 2:  # noqa: PLR2004 - "stop" and the id
        await _stop(ctx.processes.get(words[1]), ctx)
    elif len(words) == 1 and words != ["stop"]:
        _show(ctx.processes.get(words[0]), ctx)
    elif words:
        raise UserError(f"/processes does not know {args!r}. Use /processes, /processes ID or /processes stop ID.")
    else:
        await _list(ctx)


async def _list(ctx: PiContext) -> None:
    from pi_tools.commands.watched import summary

    rows = {f"{each.id}  {summary(each)}": each for each in ctx.processes.list()}
    if not rows:
        ctx.ui.notify("No process was started in the background.", "info")
        return
    if not ctx.has_ui:
        ctx.ui.notify("\n".join(rows), "info")
        return
    chosen = await ctx.ui.select("Background processes", [*rows])
    if chosen is None:
        return
    process = rows[chosen]
    actions = [_SHOW, _STOP] if process.status == "running" else [_SHOW]
    action = await ctx.ui.select(chosen, actions)
    if action == _SHOW:
        _show(process, ctx)
    elif action == _STOP:
        await _stop(process, ctx)


def _show(process: ManagedProcess, ctx: PiContext) -> None:
    text = process.read().text.rstrip("\n")
    ctx.ui.notify(f"{process.command}\n{text[-_SHOWN:] or '(no output)'}", "info")


async def _stop(process: ManagedProcess, ctx: PiContext) -> None:
    await process.stop()
    ctx.ui.notify(f"Stopped {process.id} {process.name}.", "info")
