"""Our tools as the API's: schema, eager streaming of the arguments, and strictness where the schema allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_kit import clean_json, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs.tools import Tool
    from pi_provider_anthropic._compat import Compat
    from pi_provider_anthropic._identity import ToolNames

__all__ = ["to_tool_choice", "to_tools"]


def to_tools(tools: Iterable[Tool], compat: Compat, names: ToolNames) -> list[dict[str, Any]]:
    """Return the tools, without cache marks."""
    converted = []
    for tool in tools:
        schema = {"type": "object", "properties": {}, **clean_json(dict(tool.parameters))}
        said: dict[str, Any] = {
            "name": names.sent(tool.name),
            "description": clean_text(tool.description),
            "input_schema": schema,
        }
        if compat.eager_tool_input:
            said["eager_input_streaming"] = True
        if compat.strict_tools and (strict := _strict(schema)) is not None:
            said |= {"input_schema": strict, "strict": True}
        converted.append(said)
    return converted


def to_tool_choice(choice: Any, names: ToolNames) -> dict[str, Any] | None:
    """Return the API's choice for one of this API's or OpenAI's words, or an object of either; None is the default."""
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
        *("$defs", "$ref", "$schema", "additionalProperties", "allOf", "anyOf", "const", "default", "description"),
        *("enum", "format", "items", "properties", "required", "title", "type"),
    )
)
"""What the API can hold a call to; a schema with another keyword is sent as it is, without ``strict``."""


def _strict(schema: Any) -> dict[str, Any] | None:
    """Return the schema closed to further properties at every level; None where it cannot be strict."""
    try:
        return _closed(schema)
    except ValueError:
        return None


def _closed(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict) or not _STRICT_KEYWORDS.issuperset(schema):
        raise ValueError(schema)
    closed = dict(schema)
    if schema.get("type") == "object":
        if schema.get("additionalProperties") not in (None, False):
            raise ValueError(schema)
        closed["additionalProperties"] = False
    for keyword in closed.keys() & {"properties", "$defs"}:
        closed[keyword] = {name: _closed(each) for name, each in schema[keyword].items()}
    for keyword in closed.keys() & {"anyOf", "allOf"}:
        closed[keyword] = [_closed(each) for each in schema[keyword]]
    if "items" in closed:
        closed["items"] = _closed(schema["items"])
    return closed
