"""Reading the wire: the one cattrs converter, strict about types and tolerant of what it does not know.

cattrs as it comes turns ``5`` into ``"5"``, refuses a union with a string in it and forgets unknown
fields; a session file must be read as it is, or not at all.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

import attrs

import pi_hookspecs
from pi_core.wire import keeps_unknown_fields, wire_name
from pi_hookspecs import messages
from pi_hookspecs.errors import PiError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from cattrs import Converter

    Hook: TypeAlias = Callable[[Any, Any], Any]

_KINDS: dict[Any, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    NoneType: "null",
    list: "an array",
    dict: "an object",
}
OLD_FIELDS = {
    "ToolResultMessage": {"tool_use_id": "toolCallId"},
    "CompactionEntry": {"firstKeptId": "firstKeptEntryId"},
    "SessionHeader": {"branchedFrom": "parentSession"},
}
"""Names that older documents have (decisions D17 to D19); the newer name wins where both are there."""

OLD_TAGS = {"hookMessage": "custom"}
"""Roles of session version 2 (pi.md 7.2)."""

_ERRORS_SHOWN = 3


def structure(data: Any, target: Any, what: str) -> Any:
    """Return the value of type ``target`` that the JSON data describes; ``what`` names it in the message of an error.

    Raises:
        PiError: The data does not fit; each problem with its path.
    """
    from cattrs import transform_error

    try:
        return _converter().structure(data, target)
    except RecursionError as error:
        raise PiError(f"Cannot read a {what}: nested too deeply") from error
    except Exception as error:
        problems = transform_error(error, path="", format_exception=_say)
        raise PiError(f"Cannot read a {what}: {'; '.join(map(_placed, problems[:_ERRORS_SHOWN]))}") from error


def _say(error: BaseException, _type: Any) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    return str(error) or type(error).__name__


def _placed(problem: str) -> str:
    """Turn ``problem @ .tool_results[0].text`` into ``toolResults[0].text: problem``."""
    text, _, path = problem.rpartition(" @ ")
    path = ".".join(wire_name(step) for step in path.lstrip(".").split("."))
    return f"{path}: {text}" if path else text


@cache
def _converter() -> Converter:
    from cattrs import Converter

    converter = Converter(detailed_validation=True)
    for kind in (str, bool, int, float):
        converter.register_structure_hook(kind, _scalar_hook(kind))
    converter.register_structure_hook_factory(_has_origin(Literal), _literal_hook)
    converter.register_structure_hook_factory(_has_origin(dict), _dict_hook)
    converter.register_structure_hook_factory(_has_origin(tuple), _tuple_hook)
    converter.register_structure_hook_factory(_has_origin(Union, UnionType), _union_hook)
    converter.register_structure_hook_factory(attrs.has, _class_hook)
    return converter


def _has_origin(*origins: Any) -> Callable[[Any], bool]:
    return lambda target: get_origin(target) in origins


def _refusal(expected: str, value: Any) -> ValueError:
    return ValueError(f"must be {expected}, not {reprlib.repr(value)}")


def _scalar_hook(kind: type[Any]) -> Hook:
    # JSON knows numbers only; a number is not made another one, and a flag is not a number.
    accepted = {int: (int, float), float: (int, float)}.get(kind, (kind,))

    def read(value: Any, _: Any) -> Any:
        if type(value) not in accepted:
            raise _refusal(_KINDS[kind], value)
        return value

    return read


def _literal_hook(target: Any, _: Converter) -> Hook:
    allowed = get_args(target)

    def read(value: Any, _: Any) -> Any:
        # A tag has one value and must have it. Of several, a newer pi may know more: it is kept.
        if value not in allowed and (len(allowed) == 1 or type(value) is not str):
            raise _refusal(" or ".join(map(repr, allowed)), value)
        return value

    return read


def _dict_hook(target: Any, converter: Converter) -> Hook:
    from cattrs.cols import mapping_structure_factory

    read_items = None if get_args(target)[1] is Any else mapping_structure_factory(target, converter)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, dict):
            raise _refusal(_KINDS[dict], value)
        return read_items(value, target) if read_items else value

    return read


def _tuple_hook(target: Any, converter: Converter) -> Hook:
    from cattrs.cols import homogenous_tuple_structure_factory

    read_items = homogenous_tuple_structure_factory(target, converter)

    def read(value: Any, _: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise _refusal(_KINDS[list], value)
        return read_items(value, target)

    return read


def _union_hook(target: Any, converter: Converter) -> Hook:
    """Read a member by the JSON type of the value, classes by their tag."""
    members = get_args(target)
    classes = [member for member in members if attrs.has(member)]
    readers: dict[type[Any], Any] = {json_type(member): member for member in members if member not in classes}
    if int in readers or float in readers:
        readers[int] = readers[float] = float
    if classes:
        readers[dict] = _class_by_tag(classes)
    expected = " or ".join(dict.fromkeys(_KINDS.get(kind, kind.__name__) for kind in readers))

    def read(value: Any, _: Any) -> Any:
        member = readers.get(list if isinstance(value, tuple) else type(value), _NOTHING)
        if member is _NOTHING:
            raise _refusal(expected, value)
        if isinstance(value, dict) and classes:
            value, member = member(value)
        return None if member is NoneType else converter.structure(value, member)

    return read


_NOTHING = object()


def json_type(target: Any) -> type[Any]:
    origin = get_origin(target) or target
    if origin is Literal:
        return type(get_args(target)[0])
    return list if origin is tuple else origin


def _class_by_tag(classes: list[Any]) -> Callable[[dict[str, Any]], tuple[dict[str, Any], Any]]:
    """Return what finds the class of an object: by the default of its tag field; without one, it takes the unknown."""
    if len(classes) == 1:
        return lambda data: (data, classes[0])
    tag_name = "role" if "role" in attrs.fields_dict(classes[0]) else "type"
    tags = {tag_of(cls, tag_name): cls for cls in classes}
    unknown = tags.pop(None, None)

    def choose(data: dict[str, Any]) -> tuple[dict[str, Any], Any]:
        tag = data.get(tag_name)
        if type(tag) is not str:
            raise ValueError(f"has no {tag_name!r} that is a string")
        if tag_name == "role" and tag in OLD_TAGS:
            tag = OLD_TAGS[tag]
            data = {**data, tag_name: tag}
        cls = tags.get(tag, unknown)
        if cls is None:
            raise ValueError(f"has an unknown {tag_name!r}: {tag!r}")
        return data, cls

    return choose


def tag_of(cls: Any, tag_name: str) -> str | None:
    field = attrs.fields_dict(cls).get(tag_name)
    tag = getattr(cls, tag_name, None) if field is None else field.default
    return tag if isinstance(tag, str) else None


def _class_hook(cls: Any, converter: Converter) -> Hook:
    from cattrs.gen import make_dict_structure_fn, override

    attrs.resolve_types(cls, localns=Names())
    fields = [field for field in attrs.fields(cls) if field.init]
    names: dict[str, Any] = {field.name: override(rename=wire_name(field.name)) for field in fields}
    build = make_dict_structure_fn(cls, converter, **names)
    keeps_extra = keeps_unknown_fields(cls)
    known = {wire_name(field.name) for field in fields if not (keeps_extra and field.name == "extra")}
    with_default = {wire_name(field.name) for field in fields if field.default is not attrs.NOTHING}

    def read(data: Any, _: Any) -> Any:
        if not isinstance(data, dict):
            raise _refusal(_KINDS[dict], data)
        given: dict[str, Any] = {}
        unknown: dict[str, Any] = {}
        for key, value in _modernised(cls.__name__, known, data).items():
            if key not in known:
                unknown[key] = value
            elif value is not None or key not in with_default:  # null says as much as nothing: JavaScript's NaN
                given[key] = value
        if keeps_extra:
            given["extra"] = unknown
        return build(given, cls)

    return read


def _modernised(name: str, known: set[str], data: dict[str, Any]) -> dict[str, Any]:
    """Return the object with the field names and forms of today; the same object where nothing is old."""
    changes: dict[str, Any] = {}
    old_names = OLD_FIELDS.get(name, {})
    for old, new in old_names.items():
        if old in data:
            changes[new] = data.get(new, data[old])
    if name == "SessionHeader" and "version" not in data:
        changes["version"] = 1
    if "parentId" in known and "parentId" not in data:
        changes["parentId"] = None
    if "display" in known and isinstance(data.get("display"), str):
        changes["display"] = True  # decision D40
    if not changes:
        return data
    return {key: value for key, value in data.items() if key not in old_names} | changes


class Names(dict[str, Any]):
    """Names for annotations whose imports are for type checkers only: everything public of pi_hookspecs."""

    def __missing__(self, name: str) -> Any:
        if name == "Sequence":
            return Sequence
        try:
            return getattr(pi_hookspecs, name)
        except AttributeError:
            if name in ("AssistantContent", "UserContent"):
                return getattr(messages, name)
            raise KeyError(name) from None
