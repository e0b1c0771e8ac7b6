"""Asks the user before a harmful shell command runs; without a user interface, the answer is no."""

import re

from pi_hookspecs import PiContext, ToolCallEvent, ToolCallResult, hookimpl

DANGEROUS = re.compile(r"\brm\s+(-\w*[rf]|--recursive)|\bsudo\b|\b(chmod|chown)\b.*777")


@hookimpl
async def tool_call(event: ToolCallEvent, ctx: PiContext) -> ToolCallResult | None:
    if event.tool_name != "bash" or not DANGEROUS.search(event.input["command"]):
        return None
    if not ctx.has_ui:
        return ToolCallResult(block=True, reason="This command is dangerous, and no user is available to allow it.")
    choice = await ctx.ui.select(f"Dangerous command: {event.input['command']}", ["Allow", "Refuse"])
    return None if choice == "Allow" else ToolCallResult(block=True, reason="The user refused this command.")
