"""Checks of arguments, without jsonschema, against JSON schemas that contain only types, names and choices.

Importing jsonschema takes 50 ms, longer than most tools run, and nearly all calls are valid. It is still used for
arguments that this module rejects, to coerce them and to describe errors, and for schemas with any other keyword.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["fits", "is_plain"]


def is_plain(schema: Any) -> bool:
    """Return whether a schema, as plain JSON, is valid and uses only keywords in ``_KEYWORDS``."""
    return isinstance(schema, dict) and all(
        keyword in _KEYWORDS and _KEYWORDS[keyword](value) for keyword, value in schema.items()
    )


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether a value is valid against a schema for which ``is_plain`` is true.

    Args:
        value: The result of ``json_copy``, which converts floats without a fractional part to integers.
        schema: The schema.
    """
    kind = schema.get("type")
    if kind is not None and not isinstance(value, _TYPES[kind]):
        return False
    if isinstance(value, bool) and kind in ("number", "integer"):  # only in Python is a bool a number
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
    if not value.keys() >= {*schema.get("required", ())}:
        return False
    if not schema.get("additionalProperties", True) and not value.keys() <= properties.keys():
        return False
    return all(fits(value[name], properties[name]) for name in properties.keys() & value.keys())


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
"""For each keyword, a function that returns whether its value is valid and of a kind that ``fits`` supports."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
