"""Gives the model a tool that ends the run; programs read the answer as data from the result's details."""

from typing import Literal

from pi_hookspecs import Tool, ToolResult, hookimpl, tool


@tool(
    prompt_snippet="Give the final answer as data",
    prompt_guidelines=["Your last action is a call of structured_output. Say nothing after it."],
)
async def structured_output(headline: str, verdict: Literal["good", "bad", "unclear"], points: list[str]) -> ToolResult:
    """Give the final answer.

    Args:
        headline: One line.
        verdict: What it comes to.
        points: The reasons, most important first.
    """
    details = {"headline": headline, "verdict": verdict, "points": points}
    return ToolResult.text(f"{headline} ({verdict})", details=details, terminate=True)


@hookimpl
def register_tools() -> list[Tool]:
    return [structured_output]
