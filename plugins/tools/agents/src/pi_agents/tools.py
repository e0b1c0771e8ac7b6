"""The tools ``task``, ``task_output`` and ``task_stop``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Tool, ToolAnnotations

if TYPE_CHECKING:
    from pi_agents.crew import Crew
    from pi_hookspecs import AbortSignal, ToolContext, ToolResult, ToolUpdate

__all__ = ["NAMES", "tools_of"]

NAMES = ("task", "task_output", "task_stop")

_ID = {"type": "string", "description": "The agent's id: eight hexadecimal digits."}


def tools_of(crew: Crew) -> list[Tool]:
    """Return the tools of a session."""

    async def task(
        _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        return await crew.start(ctx, **params)

    async def task_output(
        _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: ToolUpdate, ctx: ToolContext
    ) -> ToolResult:
        return await crew.output(ctx, params["id"], wait=params.get("wait", False))

    async def task_stop(
        _call_id: str, params: dict[str, Any], _signal: AbortSignal, _on_update: ToolUpdate, _ctx: ToolContext
    ) -> ToolResult:
        return await crew.stop(params["id"])

    return [
        Tool(
            name="task",
            label="Ask an agent",
            description=(
                "Hand a task to an agent: a session of its own, which sees nothing of this conversation, and return its"
                " last answer. Several calls in one answer work at the same time. Agents that change files at the same"
                " time need isolation: 'worktree'; the user applies their work afterwards."
            ),
            parameters=_object(
                {
                    "prompt": {"type": "string", "description": "Everything that the agent needs to know."},
                    "description": {"type": "string", "description": "The task in three to six words, for lists."},
                    "agent": {"type": "string", "description": "Which agent; a general one when left out."},
                    "isolation": {
                        "type": "string",
                        "enum": ["none", "worktree"],
                        "description": "worktree: a separate git worktree. The default is set in the agent's file.",
                    },
                    "background": {
                        "type": "boolean",
                        "description": "Return at once; task_output gets the result later.",
                    },
                },
                "prompt",
            ),
            execute=task,
            execution_mode="parallel",
            prompt_snippet="Hand a task to an agent with a context of its own",
            annotations=ToolAnnotations(open_world=True),
        ),
        Tool(
            name="task_output",
            label="Result of an agent",
            description="Return the result of an agent, or how far it is.",
            parameters=_object({"id": _ID, "wait": {"type": "boolean", "description": "Wait until it is done."}}, "id"),
            execute=task_output,
            execution_mode="parallel",
            prompt_snippet="Get the result of an agent in the background",
            annotations=ToolAnnotations(read_only=True, waits=True),
        ),
        Tool(
            name="task_stop",
            label="Stop an agent",
            description="Stop an agent; what it has done so far is kept.",
            parameters=_object({"id": _ID}, "id"),
            execute=task_stop,
            execution_mode="parallel",
            prompt_snippet="Stop an agent in the background",
        ),
    ]


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
