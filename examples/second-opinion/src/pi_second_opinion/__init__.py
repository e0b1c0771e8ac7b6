"""Adds a tool that asks for a second opinion, in a separate, stored session that belongs to the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import PluginSetting, ToolAnnotations, ToolContext, ToolResult, UserError, hookimpl, tool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Tool

__all__ = ["register_settings", "register_tools"]

MODEL = "secondOpinion.model"
STATES = ToolAnnotations(title="Second opinion", read_only=True, open_world=True)
PROMPT = "You give a second opinion. Be brief, name what you would do differently, and why."


@tool(annotations=STATES)
async def second_opinion(question: str, ctx: ToolContext) -> ToolResult:
    """Ask another model, which does not know this conversation, for a second opinion.

    Args:
        question: The question, with everything that is needed to answer it.
    """
    name = ctx.settings.get_str(MODEL, "")
    model = ctx.find_model(name) if name else ctx.model
    child = ctx.create_session(
        persist=True, parent_call=ctx.call_id, label="second opinion", model=model, tools=[], system_prompt=PROMPT
    )
    async with child as session:
        session.subscribe(ctx.relay)
        answer = await session.prompt(question)
        if answer is None or answer.stop_reason == "error":
            raise UserError(f"There is no second opinion: {answer and answer.error_message}")
        file = session.session_file
    return ToolResult.text(answer.text, details={"model": answer.model, "session": file and str(file)})


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add the tool."""
    return [second_opinion]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the setting."""
    return [PluginSetting(MODEL, schema={"type": "string"}, description="Model that is asked for a second opinion")]
