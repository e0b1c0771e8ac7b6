"""Our tools as function declarations, and which of them must be called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_google._families import is_foreign
from pi_provider_google._schema import openapi_schema
from pi_provider_kit import clean_json, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool

__all__ = ["to_tool_config", "to_tools"]

_MODES = {"auto": "AUTO", "none": "NONE", "any": "ANY", "required": "ANY"}
"""This API's and Anthropic's words, and OpenAI's ``required``."""


def to_tools(tools: Iterable[Tool], model: Model) -> list[dict[str, Any]]:
    """Return the tools, all in one entry; none where there are none.

    Schemas are sent as they are. Models of other vendors get the subset of OpenAPI that the API translates for them.
    """
    declared = [_declaration(tool, old=is_foreign(model.id)) for tool in tools]
    return [{"functionDeclarations": declared}] if declared else []


def to_tool_config(choice: Any) -> dict[str, Any] | None:
    """Return how calls are to be made, for a choice in the words of one of the APIs; None is the default."""
    if choice is None:
        return None
    if isinstance(choice, dict):
        function = choice.get("function")
        name = choice.get("name") or (function.get("name") if isinstance(function, dict) else None)
        if isinstance(name, str):
            return {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": [name]}}
        choice = choice.get("type")
    return {"functionCallingConfig": {"mode": _MODES.get(choice, "AUTO") if isinstance(choice, str) else "AUTO"}}


def _declaration(tool: Tool, *, old: bool) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}, **clean_json(dict(tool.parameters))}
    field = {"parameters": openapi_schema(schema)} if old else {"parametersJsonSchema": schema}
    return {"name": tool.name, "description": clean_text(tool.description), **field}
