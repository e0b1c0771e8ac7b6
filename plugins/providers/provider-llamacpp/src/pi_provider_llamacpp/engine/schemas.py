"""Schemas as a grammar accepts them. What it cannot express is omitted: pi validates every call again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["grammar_schema"]

_OPTIONS = {"whitespace_flexible": False, "lenient": True}
"""No blanks, in which small models lose themselves, and keywords that are not known are skipped."""
_ANY_OBJECT = {"type": "object"}
_UNKNOWN_PATTERN = re.compile(r"\(\?(?!:)|\\[bBAZ1-9k]")
"""Parts of patterns that an automaton has not: looking around, flags, references, borders of words."""
_VALUES = ("const", "default", "enum", "examples")


def grammar_schema(schema: Any) -> dict[str, Any]:
    """Return the schema of a tool's arguments for ``%json``; that of any object where it cannot be used at all.

    A grammar that cannot be compiled would leave the whole answer without one.
    """
    usable = isinstance(schema, dict) and schema.get("type", "object") == "object" and _is_usable(schema)
    narrowed = _narrowed({**schema, "type": "object"}) if usable else _ANY_OBJECT
    return {**narrowed, "x-guidance": _OPTIONS}


def _is_usable(schema: dict[str, Any]) -> bool:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        return False
    return all(_leads_somewhere(schema, reference) for reference in _references(schema))


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "$ref" and isinstance(item, str):
                yield item
            elif key not in _VALUES:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _leads_somewhere(schema: Any, reference: str) -> bool:
    """Whether a reference is a pointer into the schema itself, and there is something."""
    if not reference.startswith("#"):
        return False
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, dict) or name not in schema:
            return False
        schema = schema[name]
    return True


def _narrowed(value: Any) -> Any:
    """Return the schema without patterns that the grammar cannot say."""
    if isinstance(value, list):
        return [_narrowed(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: item if key in _VALUES else _narrowed(item)
        for key, item in value.items()
        if not (key == "pattern" and isinstance(item, str) and _UNKNOWN_PATTERN.search(item))
    }
