"""The tool ``powershell``: runs PowerShell commands where there is a PowerShell; not active by default.

Guards that read commands of ``bash`` cannot read these: they have to judge the tool as a whole.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations

if TYPE_CHECKING:
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolResult, ToolUpdate

__all__ = ["find_powershell", "powershell_tool"]

_PROGRAMS = ("pwsh", "powershell.exe")
_ARGUMENTS = ("-NoLogo", "-NoProfile", "-NonInteractive", "-Command")
_UTF8 = "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false)\n"
"""Runs before each command: by default Windows writes in the character set of the console."""

_PARAMETERS = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "What PowerShell is to run"},
        "timeout": {"type": "number", "description": "Seconds until it is ended; without it there is no limit"},
    },
    "required": ["command"],
}


def find_powershell() -> str | None:
    """Return the path of PowerShell, preferably of version 7; None if there is none."""
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


def powershell_tool() -> Tool:
    """Return the tool, which works in the directory of the session."""
    return Tool(
        name="powershell",
        label="PowerShell",
        description=(
            "Run a PowerShell command in the working directory and return its output, standard output and standard "
            "error together. Of long output the last 2000 lines or 50KB are shown, whichever is less, and all of it is "
            "in a file that is named. The command gets no input and no terminal. timeout is in seconds."
        ),
        parameters=_PARAMETERS,
        execute=_execute,
        annotations=ToolAnnotations(read_only=False, destructive=True, open_world=True),
        prompt_snippet="Run PowerShell commands",
        constrained_sampling="prefer",
        default_active=False,
    )


async def _execute(
    _call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, ctx: ToolContext
) -> ToolResult:
    from pi_tools.bash import prepare, run_command, timeout_of
    from pi_tools.commands.local import LocalBashOperations
    from pi_tools.failure import ToolFailure
    from pi_tools.options import BashOptions
    from pi_tools.workspace import StartPolicy, command_operations

    seconds = timeout_of(params.get("timeout"))
    program = find_powershell()
    if program is None:
        raise ToolFailure("There is no PowerShell on PATH: neither pwsh nor powershell.exe. Use another tool.")
    if command_operations(ctx, None) is not None:
        raise ToolFailure("This session's commands run on another machine, with bash. Use the tool bash.")
    local = LocalBashOperations(
        shell_path=program,
        shell_arguments=_ARGUMENTS,
        session=ctx.session.id,
        start_policy=StartPolicy(ctx, "bash"),
    )
    spawn = await prepare(params["command"], str(ctx.cwd), ctx, BashOptions(command_prefix=""), purpose="bash")
    spawn = spawn._replace(command=_UTF8 + spawn.command)
    options = BashOptions(operations=local)
    return await run_command(spawn, seconds, signal=signal, on_update=on_update, ctx=ctx, options=options)
