"""Schemas for strict tools and answers: every object closed, every property required, optional ones nullable.

What is null in a call then stands for "not given"; pi's validation reads it so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["output_format", "strict_schema"]

_DEPTH = 10
"""Levels of objects that the API takes in a strict schema."""

_REFUSED = frozenset(
    ("allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties")
)
"""Keywords that the API takes in no strict schema."""


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the schema in its strict form, None where it has none (an object with keys that are not known)."""
    try:
        strict: dict[str, Any] = _strict(schema, 0)
    except _NotStrict:
        return None
    return strict


def output_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name, schema and strictness of an answer; one that has no strict form only guides the model."""
    strict = strict_schema(schema)
    return {"name": "output", "schema": dict(schema) if strict is None else strict, "strict": strict is not None}


class _NotStrict(Exception):
    """The schema says what a strict one cannot."""


def _strict(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) and not hasattr(schema, "items"):
        return schema
    if depth > _DEPTH or _REFUSED & set(schema):
        raise _NotStrict
    strict = {name: value for name, value in schema.items() if name != "default"}
    for name in ("$defs", "definitions"):
        if isinstance(strict.get(name), dict):
            strict[name] = {key: _strict(value, depth + 1) for key, value in strict[name].items()}
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(each, depth) for each in strict["anyOf"]]
    if isinstance(strict.get("items"), dict):
        strict["items"] = _strict(strict["items"], depth + 1)
    if "properties" in strict or "object" in _types(strict):
        _close(strict, depth)
    return strict


def _close(strict: dict[str, Any], depth: int) -> None:
    if strict.get("additionalProperties") not in (None, False):
        raise _NotStrict
    properties = strict.get("properties")
    if not properties and depth:  # an object that may hold anything
        raise _NotStrict
    needed = strict.get("required") or ()
    strict["properties"] = {
        name: _strict(value, depth + 1) if name in needed else _nullable(_strict(value, depth + 1))
        for name, value in (properties or {}).items()
    }
    strict["required"] = list(strict["properties"])
    strict["additionalProperties"] = False


def _nullable(schema: Any) -> Any:
    if "null" in _types(schema):
        return schema
    return {"anyOf": [schema, {"type": "null"}]}


def _types(schema: Any) -> tuple[str, ...]:
    kinds = schema.get("type") if isinstance(schema, dict) else None
    return tuple(kinds) if isinstance(kinds, list | tuple) else (kinds,) if isinstance(kinds, str) else ()
