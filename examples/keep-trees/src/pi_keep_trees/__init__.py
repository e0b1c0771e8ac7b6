"""Refuses shell commands that delete directory trees; the model gets an alternative."""

from pi_hookspecs import ToolCallEvent, ToolCallResult, hookimpl


@hookimpl
def tool_call(event: ToolCallEvent) -> ToolCallResult | None:
    if event.tool_name == "bash" and "rm -rf" in event.input["command"]:
        return ToolCallResult(block=True, reason="Deleting trees is not allowed here; move them to ./trash instead.")
    return None
