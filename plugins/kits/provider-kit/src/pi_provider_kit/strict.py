"""Strict schemas, for tools whose calls are constrained to their schema while the model samples them.

In a strict schema every object is closed and every property required; an optional one may be null, which pi's
validation treats as missing. A schema without a strict form is sent unchanged and not enforced.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pi_hookspecs.deferred import frozen
from pi_hookspecs.errors import RequestFailed
from pi_provider_kit.tool_schemas import kept_schema

if TYPE_CHECKING:
    from collections.abc import Container

    from pi_hookspecs.models import Model
    from pi_hookspecs.tools import Tool

__all__ = ["strict_parameters", "strict_schema"]

_DEPTH = 10
"""Levels of objects and arrays that APIs accept in a strict schema."""

_REFERENCES = frozenset(("$ref", "$defs", "definitions"))

_REFUSED = frozenset(
    (
        *("additionalItems", "allOf", "contains", "dependencies", "dependentRequired", "dependentSchemas", "else"),
        *("if", "maxContains", "maxProperties", "minContains", "minProperties", "not", "oneOf", "patternProperties"),
        *("prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties", "uniqueItems"),
    )
)
"""Keywords that constrained decoding does not support, or that change their meaning once every property is required."""

_CONTAINERS = frozenset(("object", "array"))


def strict_parameters(
    tool: Tool, model: Model, *, supported: bool, keywords: Container[str] | None = None
) -> dict[str, Any] | None:
    """Return the strict schema of a tool; None for a tool whose schema is sent unchanged.

    Args:
        tool: The tool; its ``constrained_sampling`` says whether to make it strict.
        model: The model of the request, named in the error.
        supported: Whether API and model support constrained calls.
        keywords: Those that the API accepts in a strict schema, best a frozenset; None for all that do not contradict
            the strict form.

    Raises:
        RequestFailed: The tool requires it, and it is not possible; the message names the tool.
    """
    if tool.constrained_sampling is None:
        return None
    why = f"API {model.api!r} does not constrain calls of model {model.reference!r} to a schema"
    if supported:
        try:
            converter, schema = _Converter(keywords=keywords), tool.parameters
            if keywords is not None and not isinstance(keywords, frozenset):
                return converter.convert(schema)
            return kept_schema(schema, ("strict", keywords), lambda: converter.convert(schema))
        except _NotStrict as problem:
            why = f"its schema has no strict form: {problem}"
    if tool.constrained_sampling == "require":
        message = f"Tool {tool.name!r} requires constrained sampling, but {why}"
        raise RequestFailed(
            f"{message}. Choose another model, deactivate the tool, or set its constrained_sampling to 'prefer'."
        )
    return None


def strict_schema(schema: Mapping[str, Any], *, references: bool = False) -> dict[str, Any] | None:
    """Return the schema in its strict form, None if it has none.

    Without the nulls of optional properties, it accepts the same values as the schema, restricted to the properties
    that it names. ``default`` is left out.

    Args:
        schema: JSON schema, an object.
        references: Also accept ``$ref`` and unions of objects and arrays, which not every API supports.
    """
    try:
        return _Converter(references=references).convert(schema)
    except _NotStrict:
        return None


class _NotStrict(Exception):
    """The schema has no strict form."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where or 'the whole'} {what}")


@frozen(kw_only=True, eq=False, repr=False)
class _Converter:
    """Converts to strict schemas. ``where`` is the path of a subschema, ``depth`` its depth."""

    references: bool = False
    keywords: Container[str] | None = None

    def convert(self, schema: Any, where: str = "", depth: int = 0) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            raise _NotStrict(where, "is not an object with a type")
        self._check(schema, where, depth)
        strict = {name: value for name, value in schema.items() if name != "default"}
        kinds = _types(schema)
        for keyword in strict.keys() & {"$defs", "definitions"}:
            named = strict[keyword].items()
            strict[keyword] = {name: self.convert(each, f"{where}/{name}", depth + 1) for name, each in named}
        if "anyOf" in schema:
            strict["anyOf"] = self._union(schema["anyOf"], where, depth)
        elif not kinds and "$ref" not in schema:
            raise _NotStrict(where, "has no type")
        if "array" in kinds:
            strict["items"] = self.convert(schema.get("items"), f"{where}/items", depth + 1)
        if "object" in kinds:
            strict |= self._closed(schema, where, depth)
        return strict

    def _check(self, schema: Mapping[str, Any], where: str, depth: int) -> None:
        """Raise for a schema without a strict form."""
        if depth > _DEPTH:
            raise _NotStrict(where, f"is nested more than {_DEPTH} levels deep")
        for keyword in schema:
            known = self.keywords is None or keyword in self.keywords or keyword == "default"
            if keyword in _REFUSED or not known or (keyword in _REFERENCES and not self.references):
                raise _NotStrict(where, f"has {keyword!r}")
        kinds = set(_types(schema))
        if "properties" in schema and "object" not in kinds:
            raise _NotStrict(where, "has properties and is not an object")
        if kinds & _CONTAINERS:
            if len(kinds - {"null"}) > 1:
                raise _NotStrict(where, "is a union of objects or arrays")
            if schema.keys() & {"enum", "const", "anyOf"}:  # a null property would change their values
                raise _NotStrict(where, "names whole objects or arrays")

    def _union(self, branches: Any, where: str, depth: int) -> list[dict[str, Any]]:
        if not isinstance(branches, list | tuple) or not branches:
            raise _NotStrict(where, "has an 'anyOf' that is not a list")
        if not self.references and any(_CONTAINERS.intersection(_types(branch)) for branch in branches):
            raise _NotStrict(where, "is a union of objects or arrays")
        return [self.convert(branch, where, depth) for branch in branches]

    def _closed(self, schema: Mapping[str, Any], where: str, depth: int) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", ())
        if not isinstance(properties, Mapping) or not isinstance(required, list | tuple):
            raise _NotStrict(where, "has 'properties' or 'required' of a wrong kind")
        if schema.get("additionalProperties", bool(depth) and not properties) is not False:
            raise _NotStrict(where, "may contain properties that it does not name")
        unnamed = next((name for name in required if name not in properties), None)
        if unnamed is not None:
            raise _NotStrict(where, f"requires {unnamed!r}, which it does not describe")
        strict = {name: self.convert(each, f"{where}/{name}", depth + 1) for name, each in properties.items()}
        for name in strict.keys() - set(required):
            if not _allows_null(strict[name]):
                strict[name] = {"anyOf": [strict[name], {"type": "null"}]}
        return {"properties": strict, "required": list(strict), "additionalProperties": False}


def _allows_null(schema: Mapping[str, Any]) -> bool:
    """Whether null is valid; a reference is not followed, a second null does no harm."""
    kinds = _types(schema)
    return (
        "$ref" not in schema
        and (not kinds or "null" in kinds)
        and ("enum" not in schema or None in schema["enum"])
        and ("const" not in schema or schema["const"] is None)
        and ("anyOf" not in schema or any(map(_allows_null, schema["anyOf"])))
    )


def _types(schema: Any) -> tuple[str, ...]:
    kinds = schema.get("type") if isinstance(schema, Mapping) else None
    return tuple(kinds) if isinstance(kinds, list | tuple) else (kinds,) if isinstance(kinds, str) else ()
