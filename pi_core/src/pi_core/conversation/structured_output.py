"""Structured output: the schema of an ``output_type``, the instruction for the model, and the answer as a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin

from attrs import field, frozen

from pi_core.agent.safe_text import exception_message
from pi_hookspecs import InvalidArguments, InvalidOutput, UnsupportedAnnotation, UserError, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from cattrs import Converter

    Schemas = Mapping[Any, Mapping[str, Any]]
    from collections.abc import Iterator

    from pi_core.agent.schema import CompiledSchema

__all__ = ["OutputFormat", "OutputType", "output_converter", "problems_of", "schema_and_reader"]

T = TypeVar("T")


@frozen(eq=False)
class OutputType(Generic[T]):
    """A type for ``output_type`` together with a converter that reads its values.

    Attributes:
        type: The type.
        converter: Reads the JSON; None uses ``output_converter()``.
        schemas: JSON schemas by type, for types that JSON schema cannot express, such as ``datetime.date``.
    """

    type: type[T]
    converter: Converter | None = None
    schemas: Schemas = field(factory=dict)


def output_converter(schemas: Schemas | None = None) -> Converter:
    """Return a new cattrs converter like the one for answers, on which hooks can be registered.

    It reads the types that ``pi_hookspecs.shape_of`` describes: attrs classes by the names of their ``__init__``
    arguments, and unions by the first member whose schema resembles the JSON.

    Args:
        schemas: JSON schemas for types that occur in unions and have no schema of their own.
    """
    from cattrs import Converter

    converter = Converter(use_alias=True)

    def read_union(value: Any, union: Any) -> Any:
        member = next((each for each in get_args(union) if shape_of(each, schemas).takes(value)), None)
        return value if member in (None, NoneType) else converter.structure(value, member)

    converter.register_structure_hook_func(_is_union, read_union)
    converter.register_structure_hook_func(_is_sequence, lambda value, kind: converter.structure(value, _as_list(kind)))
    converter.register_structure_hook_func(_is_path, lambda value, kind: kind(value))
    return converter


def schema_and_reader(output_type: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return the JSON schema of a type, and a function that reads its value from JSON that fits.

    Raises:
        TypeError: JSON schema cannot express the type, or no converter reads a type whose schema is given.
    """
    spec = output_type if isinstance(output_type, OutputType) else OutputType(output_type)
    try:
        schema = shape_of(spec.type, spec.schemas).schema
    except UnsupportedAnnotation as error:
        raise TypeError(f"output_type {error}. For any other type, pass an OutputType with its schema") from error
    if spec.schemas:
        _require_hooks(spec)

    def read(value: Any) -> Any:
        return _converter_of(spec).structure(value, spec.type)

    return schema, read


def problems_of(error: Exception) -> list[str]:
    """Return the problems that a reader, hook, converter or validator of a type found, with paths below ``$``."""
    from cattrs import transform_error

    problems = transform_error(error, format_exception=lambda error, _: exception_message(error))
    return [each.removesuffix(" @ $") for each in problems]


def _converter_of(spec: OutputType[Any]) -> Converter:
    return spec.converter or output_converter(spec.schemas)


def _require_hooks(spec: OutputType[Any]) -> None:
    """Raise before a model is asked for a value that could not be read."""
    from cattrs import StructureHandlerNotFoundError

    converter = _converter_of(spec)
    for kind in spec.schemas:
        try:
            converter.get_structure_hook(kind)
        except StructureHandlerNotFoundError as error:
            raise TypeError(
                f"output_type has a schema for {kind!r}, but nothing converts answers to it; create a converter with "
                "pi_core.output_converter(), call its register_structure_hook, and pass it as OutputType(converter=...)"
            ) from error


def _is_union(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Union or origin is UnionType


def _is_sequence(kind: Any) -> bool:
    return (get_origin(kind) or kind) is Sequence


def _as_list(kind: Any) -> Any:
    item: Any = (*get_args(kind), Any)[0]
    return list[item]


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, PurePath)


_NO_JSON = object()
_WRAPPED = "result"
"""Name of the property for a value that is not an object, because the APIs accept only schemas of objects."""

_INSTRUCTION = """

# Output format

Your last message, once you need no more tools, must be one JSON object that fits this JSON schema, and nothing else: \
no text before or after it, no code fence.

{schema}"""

_CORRECTION = """\
Your last message does not fit the required output format:
{problem}

Answer again, with the JSON object alone."""

_BROKEN_SCHEMA = "output_type is not a valid JSON schema: {problem}"

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL | re.IGNORECASE)


class OutputFormat:
    """The format of an answer's data.

    Args:
        output_type: A JSON schema as a dict, a pydantic model, a type that ``pi_hookspecs.shape_of`` knows, or
            an ``OutputType``.

    Attributes:
        schema: JSON schema of an object.

    Raises:
        TypeError: JSON schema cannot express the type.
        UserError: The schema is not valid.
    """

    def __init__(self, output_type: Any) -> None:
        schema, self._load = _described(output_type)
        self._is_wrapped = schema.get("type") != "object" and "properties" not in schema
        self._check = _compiled(schema)
        self.schema = schema
        if self._is_wrapped:
            self.schema = _wrapped(schema)
            self._check = _compiled(self.schema)

    @property
    def instruction(self) -> str:
        """The instruction in the system prompt."""
        return _INSTRUCTION.format(schema=json.dumps(self.schema, ensure_ascii=False))

    def value_of(self, text: str) -> Any:
        """Return the value parsed from an answer.

        Raises:
            InvalidOutput: The answer is not a JSON object, or does not fit the schema; the message says what is wrong.
        """
        found = next(_json_in(text), _NO_JSON)
        if self._is_wrapped and not isinstance(found, dict) and found is not _NO_JSON:
            found = {_WRAPPED: found}
        if not isinstance(found, dict):
            raise InvalidOutput("- It is not a JSON object.", text=text)
        try:
            fitted, problems = self._check.fit(found)
        except (InvalidArguments, RecursionError) as error:
            raise InvalidOutput(exception_message(error), text=text) from error
        if problems:
            raise InvalidOutput("\n".join(f"- {problem}" for problem in problems), text=text)
        try:
            return self._load(fitted[_WRAPPED] if self._is_wrapped else fitted)
        except Exception as error:  # a problem that a converter or validator of the type found
            raise InvalidOutput("\n".join(f"- {problem}" for problem in problems_of(error)), text=text) from error

    @staticmethod
    def correction(error: InvalidOutput) -> str:
        """Return the message that asks for a correction of an invalid answer."""
        return _CORRECTION.format(problem=error)


def _described(output_type: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    """Return the schema of a type, and a function that creates its value from JSON that fits."""
    if isinstance(output_type, Mapping):
        return dict(output_type), lambda value: value
    if hasattr(output_type, "model_json_schema") and hasattr(output_type, "model_validate"):
        return output_type.model_json_schema(), output_type.model_validate
    return schema_and_reader(output_type)


def _compiled(schema: dict[str, Any]) -> CompiledSchema:
    from pi_core.agent.schema import CompiledSchema  # imports jsonschema

    try:
        return CompiledSchema("output", schema, broken=_BROKEN_SCHEMA, scalars=False)
    except InvalidArguments as error:
        raise UserError(str(error)) from error


def _wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with this schema as its only property; definitions stay at the root."""
    definitions: dict[str, Any] = {name: schema[name] for name in ("$schema", "$defs", "definitions") if name in schema}
    inner = {name: value for name, value in schema.items() if name not in definitions}
    return {
        "type": "object",
        "properties": {_WRAPPED: inner},
        "required": [_WRAPPED],
        "additionalProperties": False,
        **definitions,
    }


def _json_in(text: str) -> Iterator[Any]:
    """Yield candidates for the JSON in a text: the whole text, a code fence, the outer braces."""
    fenced = _FENCED.findall(text)
    for candidate in (text, *fenced[-1:], text[text.find("{") : text.rfind("}") + 1]):
        with suppress(ValueError, RecursionError):
            yield json.loads(candidate, parse_constant=_refuse)


def _refuse(constant: str) -> Any:
    """Reject NaN and Infinity, which are not valid JSON."""
    raise ValueError(constant)
