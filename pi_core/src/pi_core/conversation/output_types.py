"""Reads an answer's JSON as a value of the program's own types, with cattrs and with hooks of the program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, get_args, get_origin

from attrs import field, frozen

from pi_core.agent.safe_text import exception_message
from pi_hookspecs import UnsupportedAnnotation, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cattrs import Converter

    Schemas = Mapping[Any, Mapping[str, Any]]

__all__ = ["OutputType", "output_converter", "problems_of", "schema_and_reader"]

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
        raise TypeError(f"output_type {error}. For another type give an OutputType with a schema for it") from error
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
                f"output_type has a schema for {kind!r}, but no hook reads it; make a converter with "
                "pi_core.output_converter(), call its register_structure_hook, and give it as OutputType(converter=)"
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
