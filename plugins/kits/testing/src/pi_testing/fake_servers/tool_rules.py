"""What APIs refuse in the names and schemas of tools and in images; each fake server asks for its own rules."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CLAUDE_KEY", "image_problem", "name_problem", "schema_problems"]

CLAUDE_KEY = r"^[a-zA-Z0-9_.-]{1,64}$"
"""Names of properties that Claude accepts, in the words of its error."""

_ROOT = ("anyOf", "oneOf", "allOf", "not", "enum")

_BEGINNINGS = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


def name_problem(name: Any, pattern: str = r"^[a-zA-Z0-9_-]{1,64}$") -> str | None:
    """Return the error about the name of a tool, None if it is accepted."""
    if isinstance(name, str) and re.fullmatch(pattern.strip("^$"), name):
        return None
    return f"String should match pattern '{pattern}': {name!r}"


def schema_problems(
    schema: Any,
    *,
    key: str | None = None,
    const: bool = True,
    undeclared: bool = True,
    cycles: bool = True,
    root: tuple[str, ...] | None = None,
) -> Iterator[str]:
    """Yield the errors about the schema of a tool.

    Args:
        schema: The schema.
        key: Pattern of names of properties.
        const: Whether ``const`` is known.
        undeclared: Whether a property may be required and not declared.
        cycles: Whether a definition may refer to itself.
        root: The only keywords that the root may have.
    """
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "schema must be a JSON Schema of 'type: \"object\"'"
        return
    if not isinstance(schema.get("properties"), dict):
        yield "object schema missing properties"
    found = sorted(schema.keys() & set(_ROOT))
    if found:
        yield f"input_schema does not support {found[0]} at the top level"
    for extra in sorted(schema.keys() - set(root or schema)):
        yield f"extraneous key [{extra}] is not permitted"
    if problem := _invalid(schema):
        yield f"JSON schema is invalid. It must match JSON Schema draft 2020-12: {problem}"
        return
    yield from _within(schema, schema, key=key, const=const, undeclared=undeclared, cycles=cycles)


def _invalid(schema: dict[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return error.message
    return None


def _within(
    schema: dict[str, Any], whole: dict[str, Any], *, key: str | None, const: bool, undeclared: bool, cycles: bool
) -> Iterator[str]:
    """Yield the errors about a schema and those within it."""
    for each in _schemas(schema):
        properties = each.get("properties", {})
        if key is not None and any(name_problem(name, key) for name in properties):
            yield f"properties: Property keys should match pattern '{key}'"
        if not undeclared and not set(each.get("required", ())) <= set(properties):
            yield "parameters.required: property is not defined"
        if not const and "const" in each:
            yield 'Unknown name "const": Cannot find field.'
        if "array" in each.get("type", ()) and not isinstance(each.get("items"), dict):
            yield "array schema missing items."
        if any(isinstance(value, bool) for value in properties.values()):
            yield "True is not of type 'object'"
        if "$ref" in each:
            yield from _reference(each["$ref"], whole, cycles=cycles)


def _schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all those within it."""
    if not isinstance(schema, dict):
        return
    yield schema
    inner = [schema.get(keyword) for keyword in ("items", "not", "additionalProperties")]
    for keyword in ("properties", "$defs", "definitions", "patternProperties"):
        inner += schema.get(keyword, {}).values()
    for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        inner += schema.get(keyword, ())
    for each in inner:
        yield from _schemas(each)


def _reference(reference: str, whole: dict[str, Any], *, cycles: bool) -> Iterator[str]:
    head, _, name = reference.rpartition("/")
    target = whole.get(head.removeprefix("#/"), {}).get(name)
    if target is None:
        yield f"reference to {reference!r} can't be resolved"
    elif not cycles and reference in str(target):
        yield f"Circular reference: {reference}"


def image_problem(data: str, media_type: str) -> str | None:
    """Return the error about an image, None if its data could be one of its type."""
    try:
        content = b64decode(data[:64], validate=True)
    except binascii.Error:
        return "image.source.base64: invalid base64 data"
    if not content:
        return "image.source.base64: image cannot be empty"
    real = next((kind for beginning, kind in _BEGINNINGS.items() if content.startswith(beginning)), media_type)
    if real != media_type:
        return f"Image does not match the provided media type {media_type}"
    return None
