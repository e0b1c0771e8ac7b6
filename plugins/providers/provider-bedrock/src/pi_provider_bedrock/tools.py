"""Our tools as the API's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import clean_text, strict_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool
    from pi_provider_kit import SentTools

__all__ = ["to_tool_config"]

_NO_LONGER = "No longer available."
"""Description of a tool that occurs only in the conversation."""


def to_tool_config(
    names: SentTools, choice: Any, messages: Iterable[dict[str, Any]], model: Model
) -> dict[str, Any] | None:
    """Return ``toolConfig``, None if there are no tools.

    The API rejects a conversation with calls and no tools: then the called tools are declared.

    Args:
        names: The tools as they are sent.
        choice: A string of this API, Anthropic or OpenAI, or an object of any of them; None is the default.
        messages: The conversation as the API gets it.
        model: The model of the request.

    Raises:
        RequestFailed: A tool requires constrained sampling.
    """
    called = {block["toolUse"]["name"] for each in messages for block in each["content"] if "toolUse" in block}
    specs = [_spec(tool, model) for tool in names]
    if choice == "none":
        if not called:
            return None
        choice = None
    if not specs:
        specs = [_tool(name, _NO_LONGER, {"type": "object", "properties": {}}) for name in sorted(called)]
        choice = None
    if not specs:
        return None
    tool_choice = _choice(choice, names)
    return {"tools": specs, "toolChoice": tool_choice} if tool_choice is not None else {"tools": specs}


def _spec(tool: Tool, model: Model) -> dict[str, Any]:
    strict_parameters(tool, model, supported=False)  # refuses a tool that requires it
    return _tool(tool.name, clean_text(tool.description), tool.parameters)


def _tool(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
    # A description must not be empty.
    return {"toolSpec": {"name": name, "description": description or name, "inputSchema": {"json": schema}}}


def _choice(choice: Any, names: SentTools) -> dict[str, Any] | None:
    if isinstance(choice, str):
        return {{"required": "any"}.get(choice, choice): {}}
    if not isinstance(choice, dict):
        return None
    tool = choice.get("tool") or choice.get("function") or choice
    if isinstance(tool, dict) and isinstance(tool.get("name"), str):
        return {"tool": {"name": names.sent(tool["name"])}}
    kind = choice.get("type")
    return {kind: {}} if isinstance(kind, str) else dict(choice)
