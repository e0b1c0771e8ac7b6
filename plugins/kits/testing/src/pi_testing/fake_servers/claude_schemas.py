"""Validates schemas of answers as Claude's constrained decoding does, in its own API and in Bedrock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["schema_violations"]

_UNKNOWN = (
    *("minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("maxItems", "uniqueItems", "pattern", "patternProperties", "minProperties", "maxProperties", "not", "oneOf"),
)


def schema_violations(where: str, schema: Any) -> Iterator[str]:
    """Yield the API's error messages for an unsupported schema."""
    if not isinstance(schema, dict):
        yield f"{where}: Input should be a valid dictionary"
        return
    kind = schema.get("type", "schema")
    for keyword in _UNKNOWN:
        if keyword in schema:
            yield f"{where}: For '{kind}' type, property '{keyword}' is not supported"
    if kind == "object" and schema.get("additionalProperties") is not False:
        yield f"{where}: For 'object' type, 'additionalProperties' must be explicitly set to false"
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    for each in [*inner, *schema.get("allOf", ()), *([schema["items"]] if "items" in schema else ())]:
        yield from schema_violations(where, each)
