"""Gives the model a tool that asks the user one question, with suggested answers or in the user's own words."""

from pi_hookspecs import Tool, ToolContext, ToolResult, hookimpl, tool

OWN_WORDS = "Something else ..."


@tool(execution_mode="sequential", prompt_guidelines=["Ask with the tool question instead of guessing what is wanted."])
async def question(question: str, options: list[str], ctx: ToolContext) -> ToolResult:
    """Ask the user a question and return what they choose or say.

    Args:
        question: The question, complete in itself.
        options: Answers to choose from; the user may always say something else.
    """
    if not ctx.has_ui:
        raise RuntimeError("No user is available to answer. Decide yourself and state your assumption.")
    answer = await ctx.ui.select(question, [*options, OWN_WORDS], signal=ctx.signal)
    if answer == OWN_WORDS:
        answer = await ctx.ui.input(question, signal=ctx.signal)
    details = {"question": question, "options": options, "answer": answer}
    return ToolResult.text(f"The user said: {answer}" if answer else "The user did not answer.", details=details)


@hookimpl
def register_tools() -> list[Tool]:
    return [question]
