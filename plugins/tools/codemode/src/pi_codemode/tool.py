"""The tool ``codemode``: its description for the model, and what happens from a call to its result."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pi_codemode.view import VIEW
from pi_hookspecs import PiError, Tool, ToolAnnotations, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pi_codemode.warm import WarmProcess
    from pi_hookspecs import AbortSignal, ToolContext, ToolInfo

__all__ = ["NAME", "codemode_tool", "run_script"]

NAME = "codemode"

_LONGEST = 300.0
"""Seconds of a script without ``timeout``."""

_DESCRIPTION = (
    "Run a Python script that calls the other tools, and get only what it prints and the value of its last expression. "
    "Use it for several calls of which you need a part of the results, for calls in parallel, and for tools that only "
    'scripts can call. Each tool is an async function: await read(path="a.py"); tools of MCP servers are '
    'mcp.SERVER.TOOL. await gather(read(path="a"), read(path="b")) runs calls in parallel. help(tool) prints '
    "parameters and documentation. A failed call raises ToolError. Calls return text, or data where help says so. The "
    "script has Python's standard library, top-level await, no files, no network and no other programs: use the tools "
    "for those. Nothing is kept between scripts."
)

_PARAMETERS = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "description": "The Python script"},
        "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds, 300 by default"},
    },
    "required": ["code"],
}


def codemode_tool(tools: Callable[[], Sequence[ToolInfo]], warm: WarmProcess, *, is_enabled: bool) -> Tool:
    """Return the tool.

    Args:
        tools: Returns all tools of the session.
        warm: Has the process that waits for the next script.
        is_enabled: Whether the user wants it. Otherwise it waits for an MCP server whose tools only scripts can call.
    """

    async def execute(
        _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: Any, ctx: ToolContext
    ) -> ToolResult:
        return await run_script(params["code"], ctx, tools(), warm, seconds=params.get("timeout") or _LONGEST)

    from pi_process_kit import confinement_abi

    is_open = not confinement_abi()

    return Tool(
        name=NAME,
        label="Code mode",
        description=_DESCRIPTION,
        parameters=_PARAMETERS,
        execute=execute,
        prompt_snippet="Run a Python script that calls the other tools",
        exposure="direct" if is_enabled else "deferred",
        # Confined by the kernel, a script reaches the outside through tools alone, each of which is judged by itself.
        annotations=ToolAnnotations(destructive=is_open, open_world=is_open),
        renderer=VIEW,
    )


async def run_script(
    code: str,
    ctx: ToolContext,
    tools: Sequence[ToolInfo],
    warm: WarmProcess,
    *,
    seconds: float = _LONGEST,
    values: Mapping[str, Any] | None = None,
) -> ToolResult:
    """Run a script and return its result; a failure is a result with ``is_error``.

    Args:
        code: The script.
        ctx: Of the tool call.
        tools: All tools of the session.
        warm: Has the process.
        seconds: After which the script is ended.
        values: Further names that it can read.
    """
    from pi_codemode.functions import functions_of
    from pi_codemode.output import Output
    from pi_codemode.preview import refusal
    from pi_codemode.running import Run

    functions = functions_of(tools)
    if (reason := await refusal(code, functions, ctx)) is not None:
        return ToolResult.text(reason, is_error=True)
    process = await warm.take(ctx)
    run = Run(ctx=ctx, process=process, functions=functions, output=Output(ctx.secrets.redact))
    running = asyncio.ensure_future(run.run(code, values or {}))
    aborted = asyncio.ensure_future(ctx.signal.wait())
    try:
        await asyncio.wait({running, aborted}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            return running.result()
        why = "Script aborted" if ctx.signal.aborted else f"Script timed out after {seconds:g} seconds"
        return run.result(why, is_error=True)
    except PiError as error:
        return run.result(str(error), is_error=True)
    finally:
        aborted.cancel()
        running.cancel()
        await asyncio.wait({running, aborted})
        process.kill()
