"""Schemas of answers in the subset of JSON Schema that Claude's constrained decoding accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["claude_output_schema"]

_KEPT = frozenset(
    (
        *("$defs", "$ref", "allOf", "anyOf", "const", "definitions", "description", "enum", "format", "items"),
        *("properties", "required", "title", "type"),
    )
)
"""Keywords that are sent. Without the others (lengths, ranges, patterns) the schema only allows more, and the caller
checks the answer against the whole of it."""


def claude_output_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema with every object closed, as Claude accepts it; None if it cannot be expressed.

    That is an object that allows keys which the schema does not name, or a recursive schema.
    """
    definitions = {**_dict(schema.get("definitions")), **_dict(schema.get("$defs"))}
    try:
        return _closed(schema, definitions, ())
    except _NotExpressible:
        return None


class _NotExpressible(Exception):
    """The subset cannot express the schema."""


def _closed(schema: Any, definitions: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    if not hasattr(schema, "items") or not schema:  # true and {} accept anything
        raise _NotExpressible
    closed = {key: value for key, value in schema.items() if key in _KEPT}
    if "oneOf" in schema:
        closed["anyOf"] = schema["oneOf"]
    if "$ref" in closed:
        _follow(str(closed["$ref"]), definitions, path)
    if closed.get("type") == "object" or "properties" in closed:
        if schema.get("additionalProperties") or "patternProperties" in schema or not closed.get("properties"):
            raise _NotExpressible
        closed["additionalProperties"] = False
    for keyword in closed.keys() & {"properties", "$defs", "definitions"}:
        closed[keyword] = {name: _closed(each, definitions, path) for name, each in closed[keyword].items()}
    for keyword in closed.keys() & {"anyOf", "allOf"}:
        closed[keyword] = [_closed(each, definitions, path) for each in closed[keyword]]
    if "items" in closed:
        closed["items"] = _closed(closed["items"], definitions, path)
    return closed


def _follow(reference: str, definitions: dict[str, Any], path: tuple[str, ...]) -> None:
    name = reference.rpartition("/")[2]
    if name in path or name not in definitions:
        raise _NotExpressible
    _closed(definitions[name], definitions, (*path, name))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
