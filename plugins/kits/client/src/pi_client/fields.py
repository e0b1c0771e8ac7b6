"""Kinds of values on the wire: each defines once its validation, serialisation, description and JSON schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Self

import attrs
from attrs import NOTHING, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "FLAG",
    "INTEGER",
    "NUMBER",
    "OBJECT",
    "TEXT",
    "Kind",
    "Mismatch",
    "Record",
    "choice",
    "list_of",
    "object_with",
    "record",
    "wire",
    "wire_name",
]

_SHOWN = 60
"""Characters of an invalid value that an error repeats."""


class Mismatch(ValueError):
    """A value has the wrong type or shape.

    Attributes:
        path: Names of fields and indexes of lists, from the outside in.
        expected: Description of the expected value.
        missing: Whether the value is missing.
    """

    def __init__(self, expected: str, value: Any = None, path: tuple[str, ...] = (), *, missing: bool = False) -> None:
        self.path = path
        self.expected = expected
        self.value = value
        self.missing = missing
        super().__init__(expected)

    def under(self, name: str) -> Mismatch:
        """Return the same error with a field added at the front of its path."""
        return Mismatch(self.expected, self.value, (name, *self.path), missing=self.missing)

    @property
    def field(self) -> str:
        """The path with dots: ``images.0.data``."""
        return ".".join(self.path)

    def __str__(self) -> str:
        where = f"{self.field!r} " if self.path else ""
        return f"{where}is missing" if self.missing else f"{where}must be {self.expected}, not {as_json(self.value)}"


def as_json(value: Any) -> str:
    """Return a value as JSON, truncated where it is long."""
    text = json.dumps(value, default=repr)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@frozen(eq=False)
class Kind:
    """A kind of value.

    Attributes:
        expected: Description, as it follows "must be".
        schema: As a JSON schema.
        read: Returns the value for plain JSON data; raises ``Mismatch``.
        write: Returns plain JSON data for the value.
    """

    expected: str
    schema: Mapping[str, Any]
    read: Callable[[Any], Any]
    write: Callable[[Any], Any] = lambda value: value


def _plain(expected: str, name: str, *types: type) -> Kind:
    def read(value: Any) -> Any:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise Mismatch(expected, value)
        return value

    return Kind(expected, {"type": name}, read)


TEXT = _plain("a string", "string", str)
FLAG = _plain("true or false", "boolean", bool)
INTEGER = _plain("an integer", "integer", int)
NUMBER = _plain("a number", "number", int, float)
OBJECT = _plain("an object", "object", dict)


def choice(*words: str) -> Kind:
    """Return the kind of an enumeration of strings."""
    *most, last = map(repr, words)
    expected = f"{', '.join(most)} or {last}" if most else last

    def read(value: Any) -> Any:
        if value not in words:
            raise Mismatch(expected, value)
        return value

    return Kind(expected, {"enum": [*words]}, read)


def list_of(kind: Kind) -> Kind:
    """Return the kind of a list; it is read as a tuple."""
    expected = "a list"

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise Mismatch(expected, value)
        read_items = []
        for number, item in enumerate(value):
            try:
                read_items.append(kind.read(item))
            except Mismatch as problem:
                raise problem.under(str(number)) from None
        return tuple(read_items)

    schema = {"type": "array", "items": kind.schema}
    return Kind(expected, schema, read, lambda value: [kind.write(item) for item in value])


def object_with(*required: str, **properties: Mapping[str, Any]) -> Kind:
    """Return the kind of an object with at least these fields; it is read as a dict."""

    def read(value: Any) -> Any:
        OBJECT.read(value)
        for name in required:
            if name not in value:
                raise Mismatch("there", path=(name,), missing=True)
        return value

    schema: dict[str, Any] = {"type": "object"}
    if required:
        schema["required"] = [*required]
    if properties:
        schema["properties"] = properties
    return Kind("an object", schema, read)


def _fields(cls: type[Any]) -> tuple[attrs.Attribute[Any], ...]:
    """Return the fields of a record's class; every one is an attrs class, which the base class cannot declare."""
    found: tuple[attrs.Attribute[Any], ...] = attrs.fields(cls)
    return found


def wire(kind: Kind) -> dict[str, Kind]:
    """Return the metadata of an attrs field of this kind: ``name: str = field(metadata=wire(TEXT))``."""
    return {"kind": kind}


def wire_name(name: str) -> str:
    """Return the name of a field on the wire: ``streamingBehavior`` for ``streaming_behavior``."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


class Record:
    """A value of fields, each with its kind. Unknown fields are ignored, and ``null`` is the same as absent."""

    @classmethod
    def from_wire(cls, data: Any) -> Self:
        """Return the value that plain JSON data describes.

        Raises:
            Mismatch: A field is missing or of a wrong type.
        """
        OBJECT.read(data)
        values = {}
        for each in _fields(cls):
            name, value = wire_name(each.name), data.get(wire_name(each.name))
            kind: Kind = each.metadata["kind"]
            if value is not None:
                try:
                    values[each.name] = kind.read(value)
                except Mismatch as problem:
                    raise problem.under(name) from None
            elif each.default is NOTHING:
                raise Mismatch(kind.expected, value, (name,), missing=name not in data)
        return cls(**values)

    def to_wire(self) -> dict[str, Any]:
        """Return plain JSON data; fields that have their default are left out."""
        data = {}
        for each in _fields(type(self)):
            value = getattr(self, each.name)
            if each.default is NOTHING or value != each.default:
                data[wire_name(each.name)] = each.metadata["kind"].write(value)
        return data

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the data that ``from_wire`` accepts."""
        fields = _fields(cls)
        schema: dict[str, Any] = {"type": "object"}
        required = [wire_name(each.name) for each in fields if each.default is NOTHING]
        if required:
            schema["required"] = required
        if fields:
            schema["properties"] = {wire_name(each.name): dict(each.metadata["kind"].schema) for each in fields}
        return schema


def record(cls: type[Record]) -> Kind:
    """Return the kind of a record class."""
    return Kind("an object", cls.schema(), cls.from_wire, lambda value: value.to_wire())
