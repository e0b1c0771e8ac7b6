"""Shuts pi down cleanly: the command ``/bye`` for the user, the tool ``finish_and_exit`` for the model."""

from pi_hookspecs import Command, PiContext, Tool, ToolContext, ToolResult, hookimpl, tool


@hookimpl
def register_commands() -> list[Command]:
    return [Command(name="bye", handler=bye, description="End pi when the answer is done")]


def bye(args: str, ctx: PiContext) -> None:
    ctx.shutdown()


@tool
async def finish_and_exit(summary: str, ctx: ToolContext) -> ToolResult:
    """End the program. Call it when everything that was asked for is done.

    Args:
        summary: What was done, in one sentence.
    """
    ctx.shutdown()
    return ToolResult.text(summary, terminate=True)


@hookimpl
def register_tools() -> list[Tool]:
    return [finish_and_exit]
