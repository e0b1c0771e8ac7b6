"""Gives the model a tool that asks the user several questions in a row and returns all answers together."""

from typing import NotRequired, TypedDict

from pi_hookspecs import Tool, ToolContext, ToolResult, hookimpl, tool


class Question(TypedDict):
    """One question.

    Attributes:
        id: One word, for the answers.
        prompt: What the user is asked.
        options: Answers to choose from; without them the user writes.
    """

    id: str
    prompt: str
    options: NotRequired[list[str]]


@tool(execution_mode="sequential")
async def questionnaire(questions: list[Question], ctx: ToolContext) -> ToolResult:
    """Ask the user several questions and return all answers.

    Args:
        questions: In the order in which they are asked.
    """
    if not ctx.has_ui:
        raise RuntimeError("No user is available to answer. Decide yourself and state your assumption.")
    answers: dict[str, str] = {}
    for number, each in enumerate(questions, 1):
        title = f"{number}/{len(questions)} {each['prompt']}"
        options = each.get("options")
        ask = ctx.ui.select(title, options, signal=ctx.signal) if options else ctx.ui.input(title, signal=ctx.signal)
        answer = await ask
        if answer is None:
            return ToolResult.text("The user stopped answering.", details={"answers": answers, "cancelled": True})
        answers[each["id"]] = answer
    summary = "\n".join(f"{name}: {answer}" for name, answer in answers.items())
    return ToolResult.text(summary, details={"answers": answers, "cancelled": False})


@hookimpl
def register_tools() -> list[Tool]:
    return [questionnaire]
