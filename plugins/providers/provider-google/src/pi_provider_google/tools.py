"""Our tools as function declarations, and the tool choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_google.families import is_foreign, takes_strict_tools
from pi_provider_google.schema import openapi_schema
from pi_provider_kit import clean_json, clean_text, strict_parameters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool
    from pi_provider_kit import SentTools

__all__ = ["is_strict", "to_tool_config", "to_tools"]

_MODES = {"auto": "AUTO", "none": "NONE", "any": "ANY", "required": "ANY"}
"""Tool choices of this API and Anthropic, and OpenAI's ``required``."""


def to_tools(tools: Iterable[Tool], model: Model) -> list[dict[str, Any]]:
    """Return the tools, all in one entry; none where there are none.

    Names and schemas are already such as the API accepts. Schemas are sent as they are, or in their strict form where a
    tool requests it and the model supports it. Models of other vendors get the subset of OpenAPI that the API converts
    for them.

    Raises:
        RequestFailed: A tool requires constrained sampling, which is not possible.
    """
    declared = [_declaration(tool, model) for tool in tools]
    return [{"functionDeclarations": declared}] if declared else []


def is_strict(tool: Tool, model: Model) -> bool:
    """Whether the tool's calls are constrained to its schema."""
    return strict_parameters(tool, model, supported=takes_strict_tools(model.id)) is not None


def to_tool_config(choice: Any, names: SentTools, *, strict: bool = False) -> dict[str, Any] | None:
    """Return the tool config; None is the API's default.

    Args:
        choice: In the format of one of the APIs; None for automatic.
        names: The tools as they are sent.
        strict: Whether a tool is strict. Calls are then constrained to the schemas of all tools, unless the choice
            forbids or forces calls, which uses the same field.
    """
    config = _chosen(choice, names)
    if strict and (config is None or config["functionCallingConfig"]["mode"] == "AUTO"):
        return {"functionCallingConfig": {"mode": "VALIDATED"}}
    return config


def _chosen(choice: Any, names: SentTools) -> dict[str, Any] | None:
    if choice is None:
        return None
    if isinstance(choice, dict):
        function = choice.get("function")
        name = choice.get("name") or (function.get("name") if isinstance(function, dict) else None)
        if isinstance(name, str):
            return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [names.sent(name)]}}
        choice = choice.get("type")
    return {"functionCallingConfig": {"mode": _MODES.get(choice, "AUTO") if isinstance(choice, str) else "AUTO"}}


def _declaration(tool: Tool, model: Model) -> dict[str, Any]:
    strict = strict_parameters(tool, model, supported=takes_strict_tools(model.id))
    schema = tool.parameters if strict is None else clean_json(strict)
    field = {"parameters": openapi_schema(schema)} if is_foreign(model.id) else {"parametersJsonSchema": schema}
    return {"name": tool.name, "description": clean_text(tool.description), **field}
