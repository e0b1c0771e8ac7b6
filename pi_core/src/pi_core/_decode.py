"""Reading the wire fast: one function for each class, written from its fields as a writer by hand would write it.

A long session holds a hundred thousand messages, and ``--continue`` reads them before its first request. What these
functions do not understand, old forms and whatever is wrong, raises ``Misfit`` and is ``_structure``'s to read or to
explain; what they do understand they read alike, which a test asserts.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import attrs

from pi_core._structure import OLD_FIELDS, OLD_TAGS, Names, json_type, tag_of
from pi_core.wire import keeps_unknown_fields, wire_name
from pi_hookspecs.values import nothing_more

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Reader: TypeAlias = Callable[[Any], Any]

__all__ = ["Misfit", "reader_of"]


class Misfit(Exception):
    """Data that is not in today's form: no error yet, somebody else may read it."""


@cache
def reader_of(target: Any) -> Reader:
    """Return what reads a class, or a union of classes that a tag tells apart."""
    if get_origin(target) in (Union, UnionType):
        return _union_reader(target)
    return _class_reader(target)


def _union_reader(target: Any) -> Reader:
    """Return what finds an object's class by its tag; a class is compiled when the first of it comes by."""
    classes = get_args(target)
    tag_name = "role" if "role" in attrs.fields_dict(classes[0]) else "type"
    by_tag = {tag_of(cls, tag_name): cls for cls in classes}
    unknown = by_tag.pop(None, None)
    readers: dict[str, Reader] = dict.fromkeys(OLD_TAGS, _misfit) if tag_name == "role" else {}

    def find(tag: Any) -> Reader:
        cls = by_tag.get(tag, unknown) if type(tag) is str else None
        if cls is None:
            return _misfit
        reader = _class_reader(cls)
        if cls is not unknown:  # else a file with many unknown types would fill the table
            readers[tag] = reader
        return reader

    def read(data: Any) -> Any:
        try:
            tag = data[tag_name]
            reader = readers.get(tag) or find(tag)
        except (KeyError, TypeError):
            raise Misfit from None
        return reader(data)

    return read


def _misfit(_: Any) -> Any:
    raise Misfit


@cache
def _class_reader(cls: Any) -> Reader:
    attrs.resolve_types(cls, localns=Names())
    if any(field.converter or field.validator for field in attrs.fields(cls)) or hasattr(cls, "__attrs_post_init__"):
        return _misfit
    return _Writer(cls).compiled()


class _Writer:
    """Writes the source of a class's reader.

    It fills an instance of a subclass that is not frozen and then makes it one of the class itself, which takes a
    fifth of the time of a frozen class's ``__init__`` and a third of that of setting the slots one by one.
    """

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self._names: dict[str, Any] = {
            "Misfit": Misfit,
            "new": _thawed(cls),
            "cls": cls,
            "nothing_more": nothing_more(),
        }
        self._lines: list[str] = []
        self._numbers = count()

    def compiled(self) -> Reader:
        cls = self._cls
        keeps_extra = keeps_unknown_fields(cls)
        known = set()
        self._write("if type(data) is not dict:", "    raise Misfit", "get = data.get", "self = new()")
        for field in attrs.fields(cls):
            if keeps_extra and field.name == "extra":
                continue
            known.add(wire_name(field.name))
            self._field(field)
        if keeps_extra:
            self._extra(frozenset(known), OLD_FIELDS.get(cls.__name__, {}))
        self._write("self.__class__ = cls", "return self")
        body = ["try:", *(f"    {line}" for line in self._lines), "except KeyError:", "    raise Misfit from None"]
        source = "\n".join(["def read(data):", *(f"    {line}" for line in body)])
        exec(compile(source, f"<reader of {cls.__name__}>", "exec"), self._names)  # noqa: S102 - as attrs makes __init__
        reader: Reader = self._names["read"]
        return reader

    def _write(self, *lines: str) -> None:
        self._lines += lines

    def _named(self, value: Any) -> str:
        name = f"_{next(self._numbers)}"
        self._names[name] = value
        return name

    def _field(self, field: Any) -> None:
        key = wire_name(field.name)
        nullable = NoneType in get_args(field.type)
        check = self._check(field.type)
        has_default = field.default is not attrs.NOTHING and (self._cls.__name__, field.name) != _HEADER_VERSION
        self._write(f"v = get({key!r})" if has_default else f"v = data[{key!r}]")
        if field.default is None if has_default else nullable:
            check = ["if v is not None:", *(f"    {line}" for line in check)] if check else []
        elif has_default:
            make = getattr(field.default, "factory", None)
            default = self._named(make or field.default)
            check = ["if v is None:", f"    v = {default}{'()' if make else ''}", *_otherwise(check)]
        self._write(*check, f"self.{field.name} = v")

    def _extra(self, known: frozenset[str], old: dict[str, str]) -> None:
        names = self._named(known)
        self._write(
            f"if {names}.issuperset(data):",
            "    extra = nothing_more",
            "else:",
            f"    extra = {{key: value for key, value in data.items() if key not in {names}}}",
            *(line for name in old for line in (f"    if {name!r} in extra:", "        raise Misfit")),
            "self.extra = extra",
        )

    def _check(self, target: Any) -> list[str]:
        """Return the lines that look at ``v`` and make a value of it."""
        if target is Any:
            return []
        members = get_args(target) if get_origin(target) in (Union, UnionType) else (target,)
        classes = tuple(member for member in members if attrs.has(member))
        cases: list[tuple[str, list[str]]] = []
        if classes:
            reader = self._named(reader_of(classes[0] if len(classes) == 1 else Union[classes]))  # noqa: UP007 - a tuple
            cases.append(("dict", [f"v = {reader}(v)"]))
        plain = [member for member in members if member not in classes and member is not NoneType]
        cases += [(json_type(member).__name__, self._plain(member)) for member in plain]
        if classes and len(cases) == 1:
            return cases[0][1]  # the reader looks for itself
        lines = []
        for place, (kind, work) in enumerate(cases):
            lines += [f"{'el' if place else ''}if {_is(kind)}:", *(f"    {line}" for line in work or ["pass"])]
        return [*lines, "else:", "    raise Misfit"]

    def _plain(self, target: Any) -> list[str]:
        """Return the lines that make a value of what is of the right JSON type."""
        origin = get_origin(target)
        if origin is tuple:
            return [f"v = tuple([{self._named(reader_of(get_args(target)[0]))}(item) for item in v])"]
        if origin is dict and get_args(target)[1] is not Any:
            return ["raise Misfit"]
        if origin is Literal and len(get_args(target)) == 1:
            only = repr(get_args(target)[0])
            return [f"if v != {only}:", "    raise Misfit", f"v = {only}"]  # ours, not one more copy for each message
        return []


def _thawed(cls: Any) -> Any:
    """Return a subclass of a frozen class with the same layout, without its ``__init__`` and not frozen."""
    plain = {name: getattr(object, name) for name in ("__init__", "__setattr__", "__delattr__")}
    return type(cls.__name__, (cls,), {"__slots__": (), **plain})


_HEADER_VERSION = ("SessionHeader", "version")
"""A header without a version is of version 1, whatever version a new one has."""


def _is(kind: str) -> str:
    """Return the test for a JSON type; JSON knows one kind of number."""
    return "type(v) is int or type(v) is float" if kind in ("int", "float") else f"type(v) is {kind}"


def _otherwise(check: list[str]) -> list[str]:
    return ["else:", *(f"    {line}" for line in check)] if check else []
