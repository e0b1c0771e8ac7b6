"""JSON Schema as the subset of OpenAPI 3.0 that ``parameters`` of a function declaration takes."""

from __future__ import annotations

from typing import Any

__all__ = ["openapi_schema"]

_KEPT = frozenset(
    (
        *("description", "enum", "format", "items", "maxItems", "maxLength", "maximum", "minItems", "minLength"),
        *("minimum", "nullable", "pattern", "properties", "required", "title", "type", "anyOf"),
    )
)

_DEPTH = 32
"""Maximum depth; a recursive schema is cut there."""


def openapi_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without unsupported keywords.

    References are inlined, ``const`` becomes an ``enum`` of one, ``oneOf`` becomes ``anyOf``, and a type that may
    be null is ``nullable``. A schema of anything (``true``) becomes an object.
    """
    definitions = {**_dict(schema.get("definitions")), **_dict(schema.get("$defs"))}
    return _converted(schema, definitions, 0)


def _converted(schema: Any, definitions: dict[str, Any], depth: int) -> dict[str, Any]:
    if not isinstance(schema, dict) or not schema or depth > _DEPTH:
        return {"type": "object"}
    if isinstance(schema.get("$ref"), str):
        found = _dict(definitions.get(schema["$ref"].rpartition("/")[2]))
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
        return _converted(schema, definitions, depth + 1)
    result = {key: value for key, value in schema.items() if key in _KEPT}
    if "const" in schema:
        result["enum"] = [schema["const"]]
    _set_type(result)
    if isinstance(result.get("properties"), dict):
        result["properties"] = {
            name: _converted(each, definitions, depth + 1) for name, each in result["properties"].items()
        }
    if "items" in result:
        result["items"] = _converted(result["items"], definitions, depth + 1)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(choices, list):
        _set_choices(result, [_converted(each, definitions, depth + 1) for each in choices])
    return result


def _set_type(result: dict[str, Any]) -> None:
    """Replace a list of types by one type; null among them is ``nullable``."""
    kinds = result.get("type")
    if isinstance(kinds, list):
        others = [kind for kind in kinds if kind != "null"]
        if len(others) < len(kinds):
            result["nullable"] = True
        result["type"] = others[0] if others else "string"
        if len(others) > 1:
            del result["type"]
            result["anyOf"] = [{"type": kind} for kind in others]


def _set_choices(result: dict[str, Any], choices: list[dict[str, Any]]) -> None:
    others = [choice for choice in choices if choice.get("type") != "null"]
    if len(others) < len(choices):
        result["nullable"] = True
    result.pop("anyOf", None)
    if len(others) == 1:
        result.update({key: value for key, value in others[0].items() if key not in result})
    elif others:
        result["anyOf"] = others


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
