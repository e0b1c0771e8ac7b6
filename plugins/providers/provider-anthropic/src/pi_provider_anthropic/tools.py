"""Our tools as the API's: schema, eager streaming of the arguments, and strictness where a tool requests it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import clean_text, strict_parameters

if TYPE_CHECKING:
    from pi_hookspecs.models import Model
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.identity import ToolNames

__all__ = ["to_tool_choice", "to_tools"]


def to_tools(names: ToolNames, model: Model, compat: Compat) -> list[dict[str, Any]]:
    """Return the tools, without cache marks; names and schemas are already such as the API accepts.

    Raises:
        RequestFailed: A tool requires constrained sampling, which is not possible.
    """
    converted = []
    for tool in names:
        definition: dict[str, Any] = {
            "name": tool.name,
            "description": clean_text(tool.description),
            "input_schema": tool.parameters,
        }
        if compat.eager_tool_input:
            definition["eager_input_streaming"] = True
        strict = strict_parameters(tool, model, supported=compat.strict_tools, keywords=_STRICT_KEYWORDS)
        if strict is not None:
            definition |= {"input_schema": strict, "strict": True}
        converted.append(definition)
    return converted


def to_tool_choice(choice: Any, names: ToolNames) -> dict[str, Any] | None:
    """Return the API's choice for a string of this API or OpenAI, or an object of either; None is the default."""
    if isinstance(choice, str):
        return {"type": {"required": "any"}.get(choice, choice)}
    if not isinstance(choice, dict):
        return None
    name = choice.get("name") or choice.get("function", {}).get("name")
    if name is None:
        return dict(choice)
    rest = {key: value for key, value in choice.items() if key not in ("type", "name", "function")}
    return {"type": "tool", "name": names.sent(name), **rest}


_STRICT_KEYWORDS = frozenset(
    (
        *("$schema", "additionalProperties", "anyOf", "const", "description", "enum", "format", "items", "properties"),
        *("required", "title", "type"),
    )
)
"""Keywords of strict schemas; a schema with any other keyword is sent unchanged, without ``strict``."""
