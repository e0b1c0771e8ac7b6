"""Converts annotations to JSON schemas, and JSON that fits a schema to values of the annotated types."""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import math
import types
import typing
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import attrs
from attrs import evolve

from pi_hookspecs import _docstring
from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["REQUIRED", "Parameter", "Shape", "UnsupportedAnnotation", "describe", "describe_all", "resolve"]

REQUIRED = object()
"""Default of a parameter that has none."""

_ADVICE = (
    "use str, int, float, bool, Path, list[...], tuple[..., ...], dict[str, ...], Literal, an Enum, a TypedDict, "
    "an attrs class or dataclass, or a union of these"
)


class UnsupportedAnnotation(TypeError):
    """The annotation has no JSON schema, or cannot be evaluated; the message says which."""


def _identity(value: Any) -> Any:
    return value


@frozen(eq=False, repr=False)
class Shape(ReprMixin):
    """The JSON form of an annotation.

    Attributes:
        schema: Its JSON schema.
        load: Converts JSON that is valid against the schema to the Python value.
    """

    schema: dict[str, Any] = field(factory=dict)
    load: Callable[[Any], Any] = _identity

    def takes(self, value: Any) -> bool:
        """Whether the JSON has the right type at the top level; decides between the members of a union."""
        if "enum" in self.schema:
            return any(value == choice and type(value) is type(choice) for choice in self.schema["enum"])
        kind = self.schema.get("type")
        if kind == "object":
            return isinstance(value, dict) and all(name in value for name in self.schema.get("required", ()))
        return kind is None or kind == _json_type(value) or (kind == "number" and _json_type(value) == "integer")


@frozen(eq=False, repr=False)
class Parameter(ReprMixin):
    """One parameter of a function, or one field of a class."""

    name: str
    annotation: Any
    default: Any = REQUIRED


@frozen(eq=False, repr=False)
class Within(ReprMixin):
    """Where an annotation is described.

    Attributes:
        classes: Classes that are being described, to detect recursive ones.
        schemas: JSON schemas by type, of types that the rules do not describe.
    """

    classes: tuple[Any, ...] = ()
    schemas: Mapping[Any, Mapping[str, Any]] = field(factory=dict)


_NOTHING_AROUND = Within()


def describe_all(
    parameters: Iterable[Parameter], descriptions: Mapping[str, str], within: Within = _NOTHING_AROUND
) -> tuple[dict[str, Any], dict[str, Shape]]:
    """Return the schema of an object with these parameters, and the shape of each.

    Args:
        parameters: In the order of the schema.
        descriptions: By name; one in the annotation (``Annotated[int, "..."]``) wins.
        within: The classes and schemas around them.

    Raises:
        UnsupportedAnnotation: The message begins with the parameter's name.
    """
    shapes, required = {}, []
    for parameter in parameters:
        try:
            shape = _describe(parameter.annotation, within)
        except UnsupportedAnnotation as error:
            raise UnsupportedAnnotation(f"{parameter.name!r} {error}") from error
        if parameter.default is REQUIRED:
            required.append(parameter.name)
        else:
            shape = _with_default(shape, parameter.default)
        if "description" not in shape.schema and parameter.name in descriptions:
            shape = evolve(shape, schema=shape.schema | {"description": descriptions[parameter.name]})
        shapes[parameter.name] = shape
    schema: dict[str, Any] = {"type": "object", "properties": {name: shape.schema for name, shape in shapes.items()}}
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}, shapes


def resolve(annotations: Mapping[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    """Return the annotations with string annotations evaluated in the namespace ``names``.

    Each is evaluated on its own, so that one which only type checkers can resolve does not affect the others.

    Raises:
        UnsupportedAnnotation: The message begins with the parameter's name.
    """
    resolved = {}
    for name, annotation in annotations.items():
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            resolved[name] = typing.get_type_hints(holder, names, include_extras=True)[name]
        except NameError as error:
            message = f"{name!r} is annotated {annotation!r}, but {error}; import it at run time"
            raise UnsupportedAnnotation(message) from error
        except (SyntaxError, TypeError) as error:
            raise UnsupportedAnnotation(f"{name!r} is annotated {annotation!r}: {error}") from error
    return resolved


def describe(annotation: Any, schemas: Mapping[Any, Mapping[str, Any]] | None = None) -> Shape:
    """Return the JSON form of an annotation.

    Args:
        annotation: A type.
        schemas: JSON schemas of types that have none by these rules, or are to have another one.

    Raises:
        UnsupportedAnnotation: It has no JSON schema.
    """
    return _describe(annotation, Within(schemas=schemas or {}))


def _describe(annotation: Any, within: Within) -> Shape:
    schema = next((schema for kind, schema in within.schemas.items() if kind == annotation), None)
    if schema is not None:
        return Shape(dict(schema))
    for rule in _RULES:
        shape = rule(annotation, within)
        if shape is not None:
            return shape
    raise _unsupported(annotation)


def _unsupported(annotation: Any, why: str = "which a JSON schema cannot express") -> UnsupportedAnnotation:
    spelt = annotation.__name__ if type(annotation) is type else str(annotation)
    return UnsupportedAnnotation(f"is annotated {spelt}, {why}; {_ADVICE}")


def _unwrap(annotation: Any, within: Within) -> Shape | None:
    """Return the shape of the annotation inside a wrapper: ``Annotated``, ``Required``, a type alias."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        shape = _describe(inner, within)
        texts = [note for note in notes if isinstance(note, str)]
        return evolve(shape, schema=shape.schema | {"description": texts[0]}) if texts else shape
    if isinstance(annotation, typing.NewType):
        return _describe(annotation.__supertype__, within)
    if type(annotation).__name__ == "TypeAliasType":  # ``type X = ...``, since Python 3.12
        return _describe(annotation.__value__, within)
    return None


def _scalar(annotation: Any, _: Within) -> Shape | None:
    if annotation is Any:
        return Shape()
    name = _SCALARS.get(annotation) if isinstance(annotation, type) else None
    return Shape({"type": name}) if name else None


_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null"}


_JSON_TYPES = _SCALARS | {list: "array", dict: "object"}


def _json_type(value: Any) -> str | None:
    return _JSON_TYPES.get(type(value))


def _literal(annotation: Any, _: Within) -> Shape | None:
    return Shape(_enum_schema(annotation, get_args(annotation))) if get_origin(annotation) is Literal else None


def _enum_schema(annotation: Any, values: Iterable[Any]) -> dict[str, Any]:
    values = list(values)
    names = {_SCALARS.get(type(value)) for value in values}
    if None in names:
        raise _unsupported(annotation, "whose values are not all JSON")
    return {"type": names.pop(), "enum": values} if len(names) == 1 else {"enum": values}


def _union(annotation: Any, within: Within) -> Shape | None:
    if get_origin(annotation) not in (Union, types.UnionType):
        return None
    members = [_describe(member, within) for member in get_args(annotation)]

    def load(value: Any) -> Any:
        return next((member.load(value) for member in members if member.takes(value)), value)

    return Shape({"anyOf": [member.schema for member in members]}, load)


def _array(annotation: Any, within: Within) -> Shape | None:
    kind, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if kind not in (list, tuple, collections.abc.Sequence):
        return None
    if kind is tuple and arguments and arguments[1:] != (Ellipsis,):
        raise _unsupported(annotation, "an array of fixed length")
    item = _describe(arguments[0], within) if arguments else Shape()
    make = tuple if kind is tuple else list

    def load(value: Any) -> Any:
        return make(map(item.load, value)) if isinstance(value, list) else value

    return Shape({"type": "array", "items": item.schema}, load)


def _mapping(annotation: Any, within: Within) -> Shape | None:
    kind, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if kind not in (dict, collections.abc.Mapping):
        return None
    if not arguments:
        return Shape({"type": "object"})
    if arguments[0] is not str:
        raise _unsupported(annotation, "but the keys of a JSON object are strings")
    item = _describe(arguments[1], within)

    def load(value: Any) -> Any:
        return {key: item.load(part) for key, part in value.items()} if isinstance(value, dict) else value

    return Shape({"type": "object", "additionalProperties": item.schema}, load)


def _class(annotation: Any, within: Within) -> Shape | None:
    if not isinstance(annotation, type):
        return None
    if issubclass(annotation, Enum):
        return Shape(_enum_schema(annotation, (member.value for member in annotation)), annotation)
    if issubclass(annotation, PurePath):
        return Shape({"type": "string"}, lambda value: annotation(value) if isinstance(value, str) else value)
    fields = _fields_of(annotation)
    if fields is None:
        return None
    if annotation in within.classes:
        raise _unsupported(annotation, "a class that contains itself")
    make = dict if typing.is_typeddict(annotation) else annotation
    names = _docstring.parse(inspect.cleandoc(annotation.__doc__ or "")).names
    schema, shapes = describe_all(fields, names, evolve(within, classes=(*within.classes, annotation)))

    def load(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return make(**{name: shapes[name].load(part) for name, part in value.items() if name in shapes})

    return Shape(schema, load)


_Rule: TypeAlias = "Callable[[Any, Within], Shape | None]"
_RULES: tuple[_Rule, ...] = (_unwrap, _scalar, _literal, _union, _array, _mapping, _class)


def _fields_of(kind: Any) -> list[Parameter] | None:
    """Return the fields of an attrs class, dataclass or TypedDict; None for any other class."""
    if not (typing.is_typeddict(kind) or attrs.has(kind) or dataclasses.is_dataclass(kind)):
        return None
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise _unsupported(kind, f"whose fields cannot be read ({error})") from error
    if typing.is_typeddict(kind):
        return [_key(name, hint, required=name in kind.__required_keys__) for name, hint in hints.items()]
    if attrs.has(kind):
        return [
            Parameter(one.alias or one.name, hints.get(one.name, Any), _default_of(one, attrs.NOTHING))
            for one in attrs.fields(kind)
            if one.init
        ]
    return [
        Parameter(one.name, hints[one.name], _default_of(one, dataclasses.MISSING))
        for one in dataclasses.fields(kind)
        if one.init
    ]


def _key(name: str, hint: Any, *, required: bool) -> Parameter:
    """A key of a TypedDict. With string annotations the class itself does not know which keys are required."""
    while get_origin(hint) in (typing.Required, typing.NotRequired, getattr(typing, "ReadOnly", Any)):
        required = {typing.Required: True, typing.NotRequired: False}.get(get_origin(hint), required)
        (hint,) = get_args(hint)
    return Parameter(name, hint, REQUIRED if required else _UNSAID)


def _default_of(one: Any, none: Any) -> Any:
    if one.default is not none and not isinstance(one.default, _FACTORY):
        return one.default
    made = isinstance(one.default, _FACTORY) or getattr(one, "default_factory", none) is not none
    return _UNSAID if made else REQUIRED


_FACTORY: Any = attrs.Factory
_UNSAID = object()
"""Default of an optional value whose default the schema does not state."""


def _with_default(shape: Shape, default: Any) -> Shape:
    """Add the default to the schema.

    ``T | None = None`` becomes just ``T``: the argument is optional, which every provider's API can express.
    """
    branches = shape.schema.get("anyOf", ())
    if default is None and {"type": "null"} in branches:
        rest = [branch for branch in branches if branch != {"type": "null"}]
        others = {key: value for key, value in shape.schema.items() if key != "anyOf"}
        return evolve(shape, schema=(rest[0] if len(rest) == 1 else {"anyOf": rest}) | others)
    try:
        return evolve(shape, schema=shape.schema | {"default": _to_json(default)})
    except UnsupportedAnnotation:  # an object that is made only when the argument is missing
        return shape


def _to_json(value: Any) -> Any:
    if type(value) in _SCALARS and not (isinstance(value, float) and not math.isfinite(value)):
        return value
    if isinstance(value, Enum):
        return _to_json(value.value)
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    raise UnsupportedAnnotation
