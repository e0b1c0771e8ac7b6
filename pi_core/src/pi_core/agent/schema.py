"""A compiled JSON schema of a tool; its validation errors are worded like TypeBox's English messages.

The TypeScript pi sends messages with this wording to the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_core.agent.coercion import References, coerce
from pi_core.agent.json_values import NotJson, json_copy
from pi_core.agent.patterns import pattern_matches
from pi_hookspecs.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["CompiledSchema"]


_BROKEN_TOOL = (
    'Tool "{name}" cannot be called: its parameters are not a valid JSON schema: {problem}. '
    "This is a bug in the tool, not in the call."
)


class CompiledSchema:
    """A schema that JSON objects, such as the arguments of a tool, are validated against and coerced to.

    Args:
        name: The tool's name.
        schema: The JSON schema.
        broken: The error message for a schema that is itself invalid, with ``{name}`` and ``{problem}``.
        scalars: Whether scalars of a wrong type are coerced (``"2"`` to 2).

    Raises:
        InvalidArguments: The schema itself is invalid.
    """

    def __init__(self, name: str, schema: Any, *, broken: str = _BROKEN_TOOL, scalars: bool = True) -> None:
        self._name = name
        self._broken_text = broken
        self._scalars = scalars
        try:
            self._validator = _compile(json_copy(schema))
        except RecursionError:
            raise self._broken("it is nested too deeply") from None
        except (NotJson, _BrokenSchema) as problem:
            raise self._broken(str(problem)) from problem

    def fit(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments, coerced if they are not valid unchanged, and the remaining errors.

        Each error is ``path: message``. The path is dotted; it is ``root`` for the arguments as a whole.
        """
        errors = self._errors(arguments)
        if errors:
            arguments = coerce(
                arguments, self._validator.schema, self._is_valid, self._references(), scalars=self._scalars
            )
            errors = self._errors(arguments)
        return arguments, errors

    def _errors(self, value: Any) -> list[str]:
        try:
            return list(dict.fromkeys(line for error in self._validator.iter_errors(value) for line in _lines(error)))
        except RecursionError:
            raise
        except Exception as error:  # an unresolvable $ref, a regular expression that Python cannot compile
            raise self._broken(f"{type(error).__name__}: {error}") from error

    def _is_valid(self, value: Any, schema: Any) -> bool:
        from referencing.exceptions import Unresolvable

        try:
            return self._validator.evolve(schema=schema).is_valid(value)
        except Unresolvable:  # relative to an ``$id`` above the part
            return False

    def _references(self) -> References:
        from referencing import Registry
        from referencing.jsonschema import specification_with

        draft = specification_with(self._validator.META_SCHEMA["$schema"])
        whole = draft.create_resource(self._validator.schema)
        return References(Registry().resolver_with_root(whole), draft.create_resource)

    def _broken(self, problem: str) -> InvalidArguments:
        return InvalidArguments(self._broken_text.format(name=self._name, problem=problem))


class _BrokenSchema(Exception):
    """The schema violates its meta-schema."""


def _compile(schema: Any) -> Validator:
    """Return a validator for the draft that the schema names, else for the newest draft under which it is valid."""
    import jsonschema
    from jsonschema import validators
    from referencing import Registry

    if not isinstance(schema, dict):
        raise _BrokenSchema(f"must be an object, not {schema!r}")
    library: Any = validators  # its annotations lag behind its documentation
    named = library.validator_for(schema, default=None) if isinstance(schema.get("$schema"), str) else None
    newest_first: tuple[Any, ...] = (
        jsonschema.Draft202012Validator,
        jsonschema.Draft7Validator,
        jsonschema.Draft4Validator,
    )
    problems = []
    for draft in (named,) if named else newest_first:
        try:
            draft.check_schema(schema, format_checker=None)  # no formats: patterns are JavaScript's, not Python's
        except jsonschema.SchemaError as error:
            problems.append(f"{'.'.join(map(str, error.absolute_path)) or 'root'}: {error.message}")
            continue
        # An empty registry: a $ref to another document is an error instead of a network request.
        compiled = library.extend(draft, {"pattern": _pattern, "patternProperties": _pattern_properties})
        validator: Validator = compiled(schema, registry=Registry(), format_checker=draft.FORMAT_CHECKER)
        return validator
    raise _BrokenSchema(problems[0])


def _pattern(_validator: Any, pattern: str, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """Check a ``pattern``; one that cannot be decided is ignored."""
    from jsonschema import ValidationError

    if isinstance(value, str) and pattern_matches(pattern, value) is False:
        yield ValidationError("")


def _pattern_properties(
    validator: Any, patterns: dict[str, Any], value: Any, _schema: Any
) -> Iterator[ValidationError]:
    """Check ``patternProperties`` in the same way."""
    for pattern, below in patterns.items():
        for name, item in value.items() if isinstance(value, dict) else ():
            if pattern_matches(pattern, name):
                yield from validator.descend(item, below, path=name, schema_path=pattern)


def _lines(error: ValidationError) -> Iterator[str]:
    for cause in error.context or ():  # the errors of each branch of an anyOf or oneOf
        yield from _lines(cause)
    path = [str(step) for step in error.absolute_path]
    keyword: Any = error.validator
    rule: Any = error.validator_value
    value: Any = error.instance
    if "propertyNames" in error.relative_schema_path:
        text = f"property names {value} are invalid"
    elif keyword == "required" and isinstance(rule, list):
        missing = [name for name in rule if name not in value]
        path.append(missing[0])
        text = f"must have required properties {', '.join(missing)}"
    elif keyword == "type":
        text = f"must be {rule}" if isinstance(rule, str) else f"must be either {' or '.join(map(str, rule))}"
    elif keyword in ("dependentRequired", "dependencies"):
        text = _dependent(rule, value)
    elif keyword in _TEXTS:
        text = _TEXTS[keyword](rule)
    else:
        text = error.message
    yield f"{'.'.join(path) or 'root'}: {text}"


def _dependent(rule: dict[str, Any], value: dict[str, Any]) -> str:
    for name, needed in rule.items():
        if name in value and isinstance(needed, list) and not all(other in value for other in needed):
            return f"must have properties {', '.join(needed)} when property {name} is present"
    return "must have the properties that its others need"


_TEXTS: dict[Any, Callable[[Any], str]] = {
    None: lambda _: "schema is false",
    "additionalProperties": lambda _: "must not have additional properties",
    "anyOf": lambda _: "must match a schema in anyOf",
    "const": lambda _: "must be equal to constant",
    "contains": lambda _: "must contain at least 1 valid item",
    "enum": lambda _: "must be equal to one of the allowed values",
    "exclusiveMaximum": lambda limit: f"must be < {limit}",
    "exclusiveMinimum": lambda limit: f"must be > {limit}",
    "format": lambda name: f'must match format "{name}"',
    "maxItems": lambda limit: f"must not have more than {limit} items",
    "maxLength": lambda limit: f"must not have more than {limit} characters",
    "maxProperties": lambda limit: f"must not have more than {limit} properties",
    "maximum": lambda limit: f"must be <= {limit}",
    "minItems": lambda limit: f"must not have fewer than {limit} items",
    "minLength": lambda limit: f"must not have fewer than {limit} characters",
    "minProperties": lambda limit: f"must not have fewer than {limit} properties",
    "minimum": lambda limit: f"must be >= {limit}",
    "multipleOf": lambda number: f"must be multiple of {number}",
    "not": lambda _: "must not be valid",
    "oneOf": lambda _: "must match exactly one schema in oneOf",
    "pattern": lambda pattern: f'must match pattern "{pattern}"',
    "unevaluatedItems": lambda _: "must not have unevaluated items",
    "unevaluatedProperties": lambda _: "must not have unevaluated properties",
    "uniqueItems": lambda _: "must not have duplicate items",
}
"""Functions that return the message for a keyword. ``json_copy`` copied the schema, so a limit of ``2.0`` is 2."""
