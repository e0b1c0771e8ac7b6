"""Background processes that ``bash`` started: the tool ``process`` for the model, and ``/processes`` for the user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Command, UserError
from pi_hookspecs.tools import Tool, ToolAnnotations
from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from pi_hookspecs import ManagedProcess, PiContext
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolResult, ToolUpdate

__all__ = ["process_tool", "processes_command"]

_SHOW, _STOP = "Show its last output", "Stop it"
_SHOWN = 2000
"""Characters of output in a notice."""

_ACTIONS = ("list", "read", "wait", "stop")
_PARAMETERS = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": [*_ACTIONS], "description": "What to do"},
        "id": {"type": "string", "description": "The process, as bash named it; not for list"},
        "pattern": {
            "type": "string",
            "description": "For wait: a regular expression that a line of its new output must match",
        },
        "timeout": {"type": "number", "description": "For wait: seconds; 30 without it"},
    },
    "required": ["action"],
}


def process_tool() -> Tool:
    """Return the tool."""

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        from pi_tools.commands import watched

        action = params["action"]
        if action == "list":
            return watched.list_all(ctx)
        if not params.get("id"):
            raise ToolFailure(f"The action {action!r} needs the id of a process; the action 'list' shows them.")
        process = watched.find(ctx, params["id"])
        if action == "wait":
            return await watched.wait(process, params.get("pattern"), params.get("timeout"), signal)
        if action == "stop":
            return await watched.stop(process)
        return watched.read(process)

    return Tool(
        name="process",
        description=(
            "Watch what bash started with background: list shows all processes, read returns the output since it was "
            "last read, wait returns when a line of new output matches pattern, or without pattern when the process "
            "has ended, and stop ends it and all that it started. They end with the session."
        ),
        parameters=_PARAMETERS,
        execute=execute,
        annotations=ToolAnnotations(read_only=False, destructive=False, open_world=False, waits=True),
        prompt_snippet="Read, await and stop background processes",
    )


def processes_command() -> Command:
    """Return the command."""
    about = "Show background processes, or stop one: /processes stop ID"
    return Command("processes", handler=_processes, description=about, touches=("programs",))


async def _processes(args: str, ctx: PiContext) -> None:
    words = args.split()
    if words[:1] == ["stop"] and len(words) == 2:  # noqa: PLR2004 - "stop" and the id
        await _stop(ctx.processes.get(words[1]), ctx)
    elif len(words) == 1 and words != ["stop"]:
        _show(ctx.processes.get(words[0]), ctx)
    elif words:
        raise UserError(
            f"Unknown arguments of /processes: {args!r}. Use /processes, /processes ID or /processes stop ID."
        )
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
    from pi_tools.commands.overwriting import collapse

    text = collapse(process.read().text).rstrip("\n")
    ctx.ui.notify(f"{process.command}\n{text[-_SHOWN:] or '(no output)'}", "info")


async def _stop(process: ManagedProcess, ctx: PiContext) -> None:
    await process.stop()
    ctx.ui.notify(f"Stopped {process.id} {process.name}.", "info")
