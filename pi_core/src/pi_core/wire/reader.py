"""Reading the wire: one function for each class, compiled from its fields as one would write it by hand.

A long session holds a hundred thousand messages, and ``--continue`` reads them before its first request. cattrs, taught
to be as strict about types and as tolerant of unknown fields as a session file needs, takes 4.5 to 5 times as long
(23 us against 5 us for an assistant message) and 55 ms to import, so it reads what users define
(``conversation/output_types.py``). A compiled function only finds out that data does not fit; ``misfits.py`` says why.
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
from pi_hookspecs.errors import PiError
from pi_hookspecs.values import nothing_more

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[Any], Any]

__all__ = ["OLD_ROLES", "Misfit", "json_type", "members_of", "read", "reader_of", "tags_of"]

OLD_ROLES = {"hookMessage": "custom"}
"""Roles of session version 2, and what they are called now."""

_OLD_NAMES = {
    "ToolResultMessage": {"tool_use_id": "toolCallId"},
    "CompactionEntry": {"firstKeptId": "firstKeptEntryId"},
    "SessionHeader": {"branchedFrom": "parentSession"},
}
"""Names of fields in older files; the newer name wins where both are there."""

_WHEN_ABSENT = {("SessionHeader", "version"): "1"}
"""What a field is in a file that does not have it, where that is not the default of a new value."""


class Misfit(Exception):
    """Data that is not what the class's fields say."""


def read(data: Any, target: Any, what: str) -> Any:
    """Return the value of type ``target`` that the JSON data describes; ``what`` names it in the message of an error.

    Raises:
        PiError: The data does not fit; each problem with its path.
    """
    try:
        return reader_of(target)(data)
    except RecursionError as error:
        raise PiError(f"Cannot read a {what}: nested too deeply") from error
    except (Misfit, TypeError, ValueError) as error:  # the latter two of a class's own converters
        from pi_core.wire.misfits import explain

        raise PiError(f"Cannot read a {what}: {explain(data, target) or error}") from error


@cache
def reader_of(target: Any) -> Reader:
    """Return the function that makes a value of a type of JSON data, and raises ``Misfit`` where it does not fit."""
    members = members_of(target)
    if len(members) > 1 and all(map(attrs.has, members)):
        return _by_tag(members)
    if attrs.has(target):
        attrs.resolve_types(target, localns=_names_of(target))
        return _Source(target).of_class()
    return _Source(target).of_value()


def members_of(target: Any) -> tuple[Any, ...]:
    """Return the members of a union; of any other type, the type itself."""
    return get_args(target) if get_origin(target) in (Union, UnionType) else (target,)


def tags_of(classes: Sequence[Any]) -> tuple[str, dict[str, Any], Any]:
    """Return the field that tells the classes of a union apart, the class of each tag, and the one for all others."""
    name = "role" if "role" in attrs.fields_dict(classes[0]) else "type"
    by_tag: dict[Any, Any] = {}
    for cls in classes:
        field = attrs.fields_dict(cls).get(name)
        tag = getattr(cls, name, None) if field is None else field.default
        by_tag[tag if isinstance(tag, str) else None] = cls
    return name, by_tag, by_tag.pop(None, None)


def _by_tag(classes: tuple[Any, ...]) -> Reader:
    """Return what finds an object's class by its tag; a class is compiled when the first of it comes by."""
    name, by_tag, unknown = tags_of(classes)
    readers: dict[Any, Reader] = {}

    def find(data: Any) -> Reader:
        tag = data.get(name) if type(data) is dict else None
        if type(tag) is not str:
            raise Misfit
        if name == "role" and tag in OLD_ROLES:
            renamed = reader_of(by_tag[OLD_ROLES[tag]])
            return lambda data: renamed({**data, name: OLD_ROLES[tag]})
        cls = by_tag.get(tag, unknown)
        if cls is None:
            raise Misfit
        reader = reader_of(cls)
        if cls is not unknown:  # else a file with many unknown types would fill the table
            readers[tag] = reader
        return reader

    def read_tagged(data: Any) -> Any:
        try:
            reader = readers[data[name]]
        except (KeyError, TypeError):
            reader = find(data)
        return reader(data)

    return read_tagged


class _Source:
    """Writes the source of one reader.

    That of a class fills an instance of a subclass that is not frozen and then makes it one of the class itself, which
    takes a fifth of the time of a frozen class's ``__init__`` and a third of that of setting the slots one by one.
    """

    def __init__(self, target: Any) -> None:
        self._target = target
        self._names: dict[str, Any] = {"Misfit": Misfit, "cls": target, "nothing_more": nothing_more()}
        self._lines: list[str] = []
        self._numbers = count()

    def of_value(self) -> Reader:
        self._lines = [*self._check(self._target), "return v"]
        return self._compiled("v")

    def of_class(self) -> Reader:
        cls = self._target
        plain = not any(each.converter or each.validator for each in attrs.fields(cls))
        plain = plain and not hasattr(cls, "__attrs_post_init__")
        keeps_extra = keeps_unknown_fields(cls)
        fields = [each for each in attrs.fields(cls) if each.init and not (keeps_extra and each.name == "extra")]
        self._lines += ["if type(data) is not dict:", "    raise Misfit", "get = data.get"]
        old = _OLD_NAMES.get(cls.__name__, {})
        for name, new in old.items():
            self._lines += [f"if {name!r} in data:", f"    data = {{{new!r}: data[{name!r}], **data}}"]
            self._lines += [f"    del data[{name!r}]", "    get = data.get"]
        if plain:
            self._names["new"] = _thawed(cls)
            self._lines.append("self = new()")
        for field in fields:
            self._field(field, f"self.{field.name}" if plain else f"f_{field.name}")
        if keeps_extra:
            self._extra(frozenset(wire_name(each.name) for each in fields), "self.extra" if plain else "f_extra")
        names = [each.name for each in fields] + ["extra"] * keeps_extra
        made = ", ".join(f"{name.lstrip('_')}=f_{name}" for name in names)
        self._lines += ["self.__class__ = cls", "return self"] if plain else [f"return cls({made})"]
        self._lines = ["try:", *_indented(self._lines), "except KeyError:", "    raise Misfit from None"]
        return self._compiled("data")

    def _compiled(self, argument: str) -> Reader:
        name = getattr(self._target, "__name__", str(self._target))
        source = "\n".join([f"def read({argument}):", *_indented(self._lines)])
        exec(compile(source, f"<reader of {name}>", "exec"), self._names)  # noqa: S102 - as attrs makes __init__
        reader: Reader = self._names["read"]
        return reader

    def _named(self, value: Any) -> str:
        name = f"_{next(self._numbers)}"
        self._names[name] = value
        return name

    def _field(self, field: Any, where: str) -> None:
        key = wire_name(field.name)
        absent = _WHEN_ABSENT.get((self._target.__name__, field.name))
        may_be_absent = field.default is not attrs.NOTHING or field.name == "parent_id"  # early entries have no parent
        check = self._check(field.type)
        if field.name == "display":  # a text in early versions
            check = ["if type(v) is str:", "    v = True", *check]
        self._lines.append(f"v = get({key!r})" if may_be_absent else f"v = data[{key!r}]")
        if absent is None and field.default is not attrs.NOTHING and field.default is not None:
            make = getattr(field.default, "factory", None)  # null says as much as nothing: JavaScript's NaN
            absent = self._named(make or field.default) + ("()" if make else "")
        if absent is not None:
            check = ["if v is None:", f"    v = {absent}", *(["else:", *_indented(check)] if check else [])]
        elif check and (may_be_absent or NoneType in get_args(field.type)):
            check = ["if v is not None:", *_indented(check)]
        self._lines += [*check, f"{where} = v"]

    def _extra(self, known: frozenset[str], where: str) -> None:
        names = self._named(known)
        unknown = f"{{key: value for key, value in data.items() if key not in {names}}}"
        self._lines.append(f"{where} = nothing_more if {names}.issuperset(data) else {unknown}")

    def _check(self, target: Any) -> list[str]:
        """Return the lines that look at ``v`` and make a value of it."""
        if target is Any:
            return []
        members = members_of(target)
        classes = tuple(member for member in members if attrs.has(member))
        cases: list[tuple[str, list[str]]] = []
        if classes:
            reader = self._named(reader_of(classes[0] if len(classes) == 1 else Union[classes]))  # noqa: UP007 - a tuple
            cases.append(("dict", [f"v = {reader}(v)"]))
        plain = [member for member in members if member not in classes]
        cases += [(json_type(member).__name__, self._plain(member)) for member in plain]
        if classes and len(cases) == 1:
            return cases[0][1]  # the reader looks for itself
        lines = []
        for place, (kind, work) in enumerate(cases):
            lines += [f"{'el' if place else ''}if {_is(kind)}:", *_indented(work or ["pass"])]
        return [*lines, "else:", "    raise Misfit"]

    def _plain(self, target: Any) -> list[str]:
        """Return the lines that make a value of what is of the right JSON type."""
        origin, inner = get_origin(target), get_args(target)
        if origin in (tuple, Sequence):
            return [f"v = tuple([{self._named(reader_of(inner[0]))}(item) for item in v])"]
        if origin is dict and inner[1] is not Any:
            return [f"v = {{key: {self._named(reader_of(inner[1]))}(item) for key, item in v.items()}}"]
        if origin is Literal and len(inner) == 1:  # a tag; of several values a newer version may know more
            return [f"if v != {inner[0]!r}:", "    raise Misfit", f"v = {inner[0]!r}"]  # ours, not one more copy
        return []


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _thawed(cls: Any) -> Any:
    """Return a subclass of a frozen class with the same layout, without its ``__init__`` and not frozen."""
    plain = {name: getattr(object, name) for name in ("__init__", "__setattr__", "__delattr__")}
    return type(cls.__name__, (cls,), {"__slots__": (), **plain})


def json_type(target: Any) -> type[Any]:
    """Return the type of the JSON data that a plain type is read from."""
    origin = get_origin(target) or target
    if origin is Literal:
        return type(get_args(target)[0])
    return list if origin in (tuple, Sequence) else origin


def _is(kind: str) -> str:
    """Return the test for a JSON type; JSON knows one kind of number, and a flag is none."""
    tests = {"int": "type(v) is int or type(v) is float", "NoneType": "v is None", "list": "type(v) is list"}
    return tests.get("int" if kind == "float" else kind, f"type(v) is {kind}")


def _names_of(cls: type[Any]) -> dict[str, Any]:
    """Return what the annotations of a class name and only type checkers import: what is public of pi_hookspecs.

    A mapping that looks names up when they are asked for would do until Python 3.13; later ones copy it.
    """
    texts = [field.type for field in attrs.fields(cls) if isinstance(field.type, str)]
    found = {name: _public(name) for text in texts for name in re.findall(r"[A-Z]\w+", text)}
    return {name: value for name, value in found.items() if value is not None}


def _public(name: str) -> Any:
    if name == "Sequence":
        return Sequence
    home = messages if name in ("AssistantContent", "UserContent") else pi_hookspecs
    return getattr(home, name, None)
