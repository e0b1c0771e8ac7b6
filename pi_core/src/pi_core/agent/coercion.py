"""Coercion of scalars to the type that a JSON schema requires, as AJV does with ``coerceTypes``.

Values are not changed in place, so that a branch of a union can be tried and dropped.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from pi_core.agent.patterns import pattern_matches

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["References", "coerce"]

_NO_COERCION = object()
"""Returned if no coercion exists. None cannot stand for that, because it is a valid value."""

_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)
_LONGEST_NUMBER = 400
"""Maximum length of a quoted number, in characters: Python refuses to parse thousands of digits."""


@frozen(eq=False)
class References:
    """Looks up each ``$ref`` relative to the ``$id`` of the schema that it stands in; nothing is fetched.

    Args:
        resolver: A resolver of ``referencing``, which gives its class no public name.
        resource: Returns the ``referencing.Resource`` of a schema, in the draft of the whole.
    """

    resolver: Any
    resource: Callable[[Any], Any]

    def find(self, reference: str) -> tuple[Any, References] | None:
        """Return the schema that a reference leads to, and the references in it; None if it leads nowhere."""
        from referencing.exceptions import Unresolvable

        try:
            found = self.resolver.lookup(reference)
        except (Unresolvable, ValueError):  # not a URL
            return None
        return found.contents, evolve(self, resolver=found.resolver)

    def below(self, schema: Any) -> References:
        """Return the references in a part of the schema that has an ``$id``."""
        return evolve(self, resolver=self.resolver.in_subresource(self.resource(schema)))


def coerce(
    value: Any,
    schema: Any,
    is_valid: Callable[[Any, Any], bool],
    references: References,
    *,
    scalars: bool = True,
) -> Any:
    """Return the value with scalars of a wrong type coerced, where the schema has a type and a coercion exists.

    Args:
        value: Plain JSON; it is not changed.
        schema: The schema of the value.
        is_valid: Whether a value fits a part of the schema.
        references: Where a ``$ref`` of the schema leads. A target that is not found accepts everything.
        scalars: Whether to coerce scalars. If False, only nulls of optional properties are removed.
    """
    return _Coercion(is_valid, references, scalars).apply(value, schema)


@frozen(eq=False)
class _Coercion:
    is_valid: Callable[[Any, Any], bool]
    references: References
    scalars: bool

    def apply(self, value: Any, schema: Any) -> Any:
        if not isinstance(schema, dict):
            return value
        if isinstance(schema.get("$id"), str):
            within = evolve(self, references=self.references.below(schema))
            return within.apply(value, {name: part for name, part in schema.items() if name != "$id"})
        if isinstance(schema.get("$ref"), str):
            value = self._apply_reference(value, schema["$ref"])
        for part in schema.get("allOf", ()):
            value = self.apply(value, part)
        for union in ("anyOf", "oneOf"):
            value = self._apply_union(value, schema.get(union, ()))
        if self.scalars and "type" in schema:
            value = _scalar(value, schema["type"])
        if isinstance(value, dict):
            return self._apply_object(value, schema)
        if isinstance(value, list):
            return self._apply_array(value, schema)
        return value

    def _apply_reference(self, value: Any, reference: str) -> Any:
        found = self.references.find(reference)
        return value if found is None else evolve(self, references=found[1]).apply(value, found[0])

    def _apply_union(self, value: Any, branches: list[Any]) -> Any:
        """Return the value if a branch accepts it, else the value coerced for the first branch that then accepts it."""
        if any(self.is_valid(value, branch) for branch in branches):
            return value
        candidates = ((self.apply(value, branch), branch) for branch in branches)
        return next((candidate for candidate, branch in candidates if self.is_valid(candidate, branch)), value)

    def _apply_object(self, value: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        properties = schema.get("properties", {})
        patterns = schema.get("patternProperties", {})
        required = schema.get("required", ())
        result = {}
        for name, item in value.items():
            parts = [properties[name]] if name in properties else []
            parts += [part for pattern, part in patterns.items() if pattern_matches(pattern, name)]
            if item is None and name in properties and name not in required and not self.is_valid(None, parts[0]):
                continue  # models send "null" for an optional property to mean "not given"
            for part in parts or [schema.get("additionalProperties")]:
                item = self.apply(item, part)  # noqa: PLW2901 - each part gets the result of the one before
            result[name] = item
        return result

    def _apply_array(self, value: list[Any], schema: dict[str, Any]) -> list[Any]:
        items = schema.get("items")
        first, rest = schema.get("prefixItems", []), items
        if isinstance(items, list):  # before 2020-12
            first, rest = items, schema.get("additionalItems")
        return [self.apply(item, first[index] if index < len(first) else rest) for index, item in enumerate(value)]


def _scalar(value: Any, required_type: str | list[str]) -> Any:
    types = [required_type] if isinstance(required_type, str) else required_type
    if isinstance(value, dict | list) or any(_is(value, name) for name in types):
        return value
    candidates = (_TO[name](value) for name in types if name in _TO)
    return next((candidate for candidate in candidates if candidate is not _NO_COERCION), value)


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if isinstance(value, int | float):
        return name == "number" or (name == "integer" and (isinstance(value, int) or value.is_integer()))
    return name == ("null" if value is None else "string")


def _to_number(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return int(bool(value))
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER or not _DECIMAL.fullmatch(value):
        return _NO_COERCION
    try:
        return int(value)
    except ValueError:
        number = float(value)
    if not math.isfinite(number):
        return _NO_COERCION
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _to_integer(value: Any) -> Any:
    number = _to_number(value)
    return number if isinstance(number, int) else _NO_COERCION


def _to_boolean(value: Any) -> Any:
    if value in ("true", 1):
        return True
    return False if value is None or value in ("false", 0) else _NO_COERCION


def _to_string(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    try:
        return str(value)
    except ValueError:  # an int with more digits than Python prints
        return _NO_COERCION


def _to_null(value: Any) -> Any:
    return None if value in ("", 0, False) else _NO_COERCION


_TO: dict[str, Callable[[Any], Any]] = {
    "string": _to_string,
    "number": _to_number,
    "integer": _to_integer,
    "boolean": _to_boolean,
    "null": _to_null,
}
