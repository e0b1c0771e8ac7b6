"""Prevents the model from writing certain files: secrets, the repository's internal files, installed packages."""

from pathlib import Path

from pi_hookspecs import PiContext, ToolCallEvent, ToolCallResult, hookimpl

PROTECTED = {".env", ".git", "node_modules"}


@hookimpl
def tool_call(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
    if event.tool_name not in ("write", "edit"):
        return None
    path = (ctx.cwd / Path(event.input["path"]).expanduser()).resolve()  # "src/../.env", and links that lead there
    if PROTECTED.isdisjoint(path.parts):
        return None
    return ToolCallResult(block=True, reason=f"{event.input['path']!r} is protected. Ask the user to change it.")
