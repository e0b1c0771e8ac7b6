"""The tool ``process``: lists, reads, awaits and stops what ``bash`` started in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs.tools import Tool, ToolAnnotations
from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.tool_context import ToolContext
    from pi_hookspecs.tools import ToolResult, ToolUpdate

__all__ = ["process_tool"]

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
        annotations=ToolAnnotations(read_only=False, destructive=False, open_world=False),
        prompt_snippet="Read, await and stop background processes",
    )
