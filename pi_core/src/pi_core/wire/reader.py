"""Reads values from JSON with one function per class, which is compiled from the fields of the class.

A long session holds a hundred thousand messages, and ``--continue`` reads them before its first request. cattrs, taught
to be as strict about types, takes 2.7 times as long for an assistant message and 18 ms more for the first one
(``bench/reading.py``), so it reads what users define (``conversation/structured_output.py``). A compiled function only
detects that data does not fit; ``errors.py`` says why.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import count
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import attrs

import pi_hookspecs
from pi_core.wire.names import keeps_unknown_fields, wire_name
from pi_hookspecs import messages
from pi_hookspecs.values import nothing_more

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[Any], Any]

__all__ = ["OLD_ROLES", "InvalidData", "json_type", "members_of", "reader_of", "tags_of"]

OLD_ROLES = {"hookMessage": "custom"}
"""Roles in session version 2, with their current names."""

_OLD_NAMES = {
    "ToolResultMessage": {"tool_use_id": "toolCallId"},
    "CompactionEntry": {"firstKeptId": "firstKeptEntryId"},
    "SessionHeader": {"branchedFrom": "parentSession"},
}
"""Field names in older files, with their current names; the current name wins if a file has both."""

_DEFAULTS_OF_OLD_FILES = {("SessionHeader", "version"): "1"}
"""Source code for the value of a field missing in a file, if that differs from the default of new values."""


class InvalidData(Exception):
    """The data does not fit the fields of the class."""


@cache
def reader_of(target: Any) -> Reader:
    """Return a function that reads a value of a type from JSON, or raises ``InvalidData`` if the data does not fit."""
    members = members_of(target)
    if len(members) > 1 and all(map(attrs.has, members)):
        return _tagged_reader(members)
    if attrs.has(target):
        attrs.resolve_types(target, localns=_names_in_annotations(target))
        return _ReaderSource(target).compile_class()
    return _ReaderSource(target).compile_value()


def members_of(target: Any) -> tuple[Any, ...]:
    """Return the members of a union; for any other type, the type itself."""
    return get_args(target) if get_origin(target) in (Union, UnionType) else (target,)


def tags_of(classes: Sequence[Any]) -> tuple[str, dict[str, Any], Any]:
    """Return the tag field of a union of classes, the class of each tag, and the class of unknown tags."""
    name = "role" if "role" in attrs.fields_dict(classes[0]) else "type"
    by_tag: dict[Any, Any] = {}
    for cls in classes:
        field = attrs.fields_dict(cls).get(name)
        tag = getattr(cls, name, None) if field is None else field.default
        by_tag[tag if isinstance(tag, str) else None] = cls
    return name, by_tag, by_tag.pop(None, None)


def _tagged_reader(classes: tuple[Any, ...]) -> Reader:
    """Return a reader that chooses the class by the tag; a class is compiled for its first object."""
    name, by_tag, unknown = tags_of(classes)
    readers: dict[Any, Reader] = {}

    def find(data: Any) -> Reader:
        tag = data.get(name) if type(data) is dict else None
        if type(tag) is not str:
            raise InvalidData
        if name == "role" and tag in OLD_ROLES:
            renamed = reader_of(by_tag[OLD_ROLES[tag]])
            return lambda data: renamed({**data, name: OLD_ROLES[tag]})
        cls = by_tag.get(tag, unknown)
        if cls is None:
            raise InvalidData
        reader = reader_of(cls)
        if cls is not unknown:  # otherwise a file with many unknown types would fill the cache
            readers[tag] = reader
        return reader

    def read_tagged(data: Any) -> Any:
        try:
            reader = readers[data[name]]
        except (KeyError, TypeError):
            reader = find(data)
        return reader(data)

    return read_tagged


class _ReaderSource:
    """Generates and compiles the source of one reader.

    The reader of a class sets the attributes of an instance of a mutable subclass, and then assigns its ``__class__``.
    This takes a fifth of the time of a frozen class's ``__init__``, and a third of the time of ``object.__setattr__``.
    """

    def __init__(self, target: Any) -> None:
        self._target = target
        self._names: dict[str, Any] = {"InvalidData": InvalidData, "cls": target, "nothing_more": nothing_more()}
        self._lines: list[str] = []
        self._numbers = count()

    def compile_value(self) -> Reader:
        self._lines = [*self._check(self._target), "return v"]
        return self._compile("v")

    def compile_class(self) -> Reader:
        cls = self._target
        plain = not any(each.converter or each.validator for each in attrs.fields(cls))
        plain = plain and not hasattr(cls, "__attrs_post_init__")
        keeps_extra = keeps_unknown_fields(cls)
        fields = [each for each in attrs.fields(cls) if each.init and not (keeps_extra and each.name == "extra")]
        self._lines += ["if type(data) is not dict:", "    raise InvalidData", "get = data.get"]
        old = _OLD_NAMES.get(cls.__name__, {})
        for name, new in old.items():
            self._lines += [f"if {name!r} in data:", f"    data = {{{new!r}: data[{name!r}], **data}}"]
            self._lines += [f"    del data[{name!r}]", "    get = data.get"]
        if plain:
            self._names["new"] = _mutable_subclass(cls)
            self._lines.append("self = new()")
        for field in fields:
            self._field(field, f"self.{field.name}" if plain else f"f_{field.name}")
        if keeps_extra:
            self._extra(frozenset(wire_name(each.name) for each in fields), "self.extra" if plain else "f_extra")
        names = [each.name for each in fields] + ["extra"] * keeps_extra
        made = ", ".join(f"{name.lstrip('_')}=f_{name}" for name in names)
        self._lines += ["self.__class__ = cls", "return self"] if plain else [f"return cls({made})"]
        self._lines = ["try:", *_indented(self._lines), "except KeyError:", "    raise InvalidData from None"]
        return self._compile("data")

    def _compile(self, argument: str) -> Reader:
        name = getattr(self._target, "__name__", str(self._target))
        source = "\n".join([f"def read({argument}):", *_indented(self._lines)])
        exec(compile(source, f"<reader of {name}>", "exec"), self._names)  # noqa: S102 - as attrs makes __init__
        reader: Reader = self._names["read"]
        return reader

    def _bind(self, value: Any) -> str:
        name = f"_{next(self._numbers)}"
        self._names[name] = value
        return name

    def _field(self, field: Any, where: str) -> None:
        key = wire_name(field.name)
        default = _DEFAULTS_OF_OLD_FILES.get((self._target.__name__, field.name))
        optional = field.default is not attrs.NOTHING or field.name == "parent_id"  # early entries have no parent
        check = self._check(field.type)
        if field.name == "display":  # a string in early versions
            check = ["if type(v) is str:", "    v = True", *check]
        self._lines.append(f"v = get({key!r})" if optional else f"v = data[{key!r}]")
        if default is None and field.default is not attrs.NOTHING and field.default is not None:
            make = getattr(field.default, "factory", None)  # null counts as absent: JavaScript writes NaN as null
            default = self._bind(make or field.default) + ("()" if make else "")
        if default is not None:
            check = ["if v is None:", f"    v = {default}", *(["else:", *_indented(check)] if check else [])]
        elif check and (optional or NoneType in get_args(field.type)):
            check = ["if v is not None:", *_indented(check)]
        self._lines += [*check, f"{where} = v"]

    def _extra(self, known: frozenset[str], where: str) -> None:
        names = self._bind(known)
        unknown = f"{{key: value for key, value in data.items() if key not in {names}}}"
        self._lines.append(f"{where} = nothing_more if {names}.issuperset(data) else {unknown}")

    def _check(self, target: Any) -> list[str]:
        """Return the lines that check ``v`` and convert it."""
        if target is Any:
            return []
        members = members_of(target)
        classes = tuple(member for member in members if attrs.has(member))
        cases: list[tuple[str, list[str]]] = []
        if classes:
            reader = self._bind(reader_of(classes[0] if len(classes) == 1 else Union[classes]))  # noqa: UP007 - a tuple
            cases.append(("dict", [f"v = {reader}(v)"]))
        plain = [member for member in members if member not in classes]
        cases += [(json_type(member).__name__, self._plain(member)) for member in plain]
        if classes and len(cases) == 1:
            return cases[0][1]  # the reader checks the type itself
        lines = []
        for place, (kind, work) in enumerate(cases):
            lines += [f"{'el' if place else ''}if {_type_test(kind)}:", *_indented(work or ["pass"])]
        return [*lines, "else:", "    raise InvalidData"]

    def _plain(self, target: Any) -> list[str]:
        """Return the lines that convert ``v``, which has the right JSON type."""
        origin, inner = get_origin(target), get_args(target)
        if origin in (tuple, Sequence):
            return [f"v = tuple([{self._bind(reader_of(inner[0]))}(item) for item in v])"]
        if origin is dict and inner[1] is not Any:
            return [f"v = {{key: {self._bind(reader_of(inner[1]))}(item) for key, item in v.items()}}"]
        if origin is Literal and len(inner) == 1:  # a tag; if it has several values, a newer version may have more
            return [f"if v != {inner[0]!r}:", "    raise InvalidData", f"v = {inner[0]!r}"]  # one object for all
        return []


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _mutable_subclass(cls: Any) -> Any:
    """Return a mutable subclass of a frozen class with the same layout and without ``__init__``."""
    plain = {name: getattr(object, name) for name in ("__init__", "__setattr__", "__delattr__")}
    return type(cls.__name__, (cls,), {"__slots__": (), **plain})


def json_type(target: Any) -> type[Any]:
    """Return the type of the JSON data that a plain type is read from."""
    origin = get_origin(target) or target
    if origin is Literal:
        return type(get_args(target)[0])
    return list if origin in (tuple, Sequence) else origin


def _type_test(kind: str) -> str:
    """Return the source of the test for a JSON type; JSON has one type of number, and booleans are not numbers."""
    tests = {"int": "type(v) is int or type(v) is float", "NoneType": "v is None", "list": "type(v) is list"}
    return tests.get("int" if kind == "float" else kind, f"type(v) is {kind}")


def _names_in_annotations(cls: type[Any]) -> dict[str, Any]:
    """Return the public names of pi_hookspecs that a class's annotations use and import for type checkers only.

    A mapping that looks names up lazily works until Python 3.13; later versions copy it.
    """
    texts = [field.type for field in attrs.fields(cls) if isinstance(field.type, str)]
    found = {name: _public(name) for text in texts for name in re.findall(r"[A-Z]\w+", text)}
    return {name: value for name, value in found.items() if value is not None}


def _public(name: str) -> Any:
    if name == "Sequence":
        return Sequence
    home = messages if name in ("AssistantContent", "UserContent") else pi_hookspecs
    return getattr(home, name, None)
