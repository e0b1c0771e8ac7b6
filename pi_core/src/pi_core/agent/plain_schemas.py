"""JSON schemas of types, names and choices only, against which arguments are checked without jsonschema.

jsonschema takes 50 ms to import, longer than most tools run, and nearly all calls are valid. It still decides about
arguments that do not fit here, for their errors and coercions, and about schemas with any other keyword.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fits", "is_plain"]


def is_plain(schema: Any) -> bool:
    """Return whether a schema, as plain JSON, is valid and has keywords of ``_KEYWORDS`` alone."""
    return isinstance(schema, dict) and all(
        keyword in _KEYWORDS and _KEYWORDS[keyword](value) for keyword, value in schema.items()
    )


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether plain JSON is valid against a schema for which ``is_plain`` is true."""
    kind = schema.get("type")
    if kind is not None and not _TYPES[kind](value):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "anyOf" in schema and not any(fits(value, each) for each in schema["anyOf"]):
        return False
    if isinstance(value, dict):
        return _has_properties(value, schema)
    return not isinstance(value, list) or "items" not in schema or all(fits(each, schema["items"]) for each in value)


def _has_properties(value: dict[str, Any], schema: dict[str, Any]) -> bool:
    properties = schema.get("properties", {})
    if not all(name in value for name in schema.get("required", ())):
        return False
    if not schema.get("additionalProperties", True) and not value.keys() <= properties.keys():
        return False
    return all(fits(value[name], inner) for name, inner in properties.items() if name in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


_KEYWORDS: dict[str, Callable[[Any], bool]] = {
    "type": lambda value: isinstance(value, str) and value in _TYPES,
    "properties": lambda value: isinstance(value, dict) and all(map(is_plain, value.values())),
    "required": _are_texts,
    "additionalProperties": lambda value: isinstance(value, bool),
    "items": is_plain,
    "enum": _are_texts,
    "anyOf": lambda value: isinstance(value, list) and bool(value) and all(map(is_plain, value)),
    "title": _is_text,
    "description": _is_text,
    "default": lambda _: True,
}
"""Keyword to whether its value is valid and of a kind that ``fits`` understands."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": _is_text,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: not isinstance(value, bool) and (isinstance(value, int) or _is_whole(value)),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _is_whole(value: Any) -> bool:
    return isinstance(value, float) and value.is_integer()
