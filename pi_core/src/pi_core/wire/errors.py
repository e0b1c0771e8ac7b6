"""Error messages for JSON data that does not fit a class of the contract: they list problems with their paths."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import attrs

from pi_core.wire.names import keeps_unknown_fields, wire_name
from pi_core.wire.reader import OLD_ROLES, InvalidData, json_type, members_of, reader_of, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["explain"]

_JSON_TYPES: dict[Any, str] = {
    str: "a string",
    bool: "true or false",
    int: "a number",
    float: "a number",
    NoneType: "null",
    list: "an array",
    dict: "an object",
}
_MAX_PROBLEMS = 3
"""Maximum number of problems in one message."""


def explain(data: Any, target: Any) -> str:
    """Return the first problems of data for which ``reader_of(target)`` raises; an empty text if there are none."""
    problems: list[str] = []
    for path, problem in _problems(data, target, ""):
        problems.append(f"{path}: {problem}" if path else problem)
        if len(problems) == _MAX_PROBLEMS:
            break
    return "; ".join(problems)


def _problems(data: Any, target: Any, path: str) -> Iterator[tuple[str, str]]:
    try:
        reader_of(target)(data)
    except InvalidData:
        pass
    except (TypeError, ValueError) as error:  # a class's own converter or validator
        yield path, str(error)
        return
    else:
        return
    members = members_of(target)
    classes = [member for member in members if attrs.has(member)]
    if isinstance(data, dict) and classes:
        yield from _object_problems(data, classes, path)
        return
    member = next((each for each in members if each not in classes and _has_json_type(data, json_type(each))), None)
    inner = get_args(member)
    if get_origin(member) in (tuple, Sequence):
        for number, item in enumerate(data):
            yield from _problems(item, inner[0], f"{path}[{number}]")
    elif get_origin(member) is dict:
        for key, item in data.items():
            yield from _problems(item, inner[1], f"{path}[{key!r}]")
    elif get_origin(member) is Literal:
        yield path, f"must be {' or '.join(map(repr, inner))}, not {reprlib.repr(data)}"
    else:
        kinds = ["an object"] * bool(classes) + [
            _JSON_TYPES[json_type(each)] for each in members if each not in classes
        ]
        yield path, f"must be {' or '.join(dict.fromkeys(kinds))}, not {reprlib.repr(data)}"


def _object_problems(data: dict[str, Any], classes: list[Any], path: str) -> Iterator[tuple[str, str]]:
    cls = classes[0]
    if len(classes) > 1:
        name, by_tag, unknown = tags_of(classes)
        tag = data.get(name)
        if type(tag) is not str:
            yield path, f"has no {name!r} that is a string"
            return
        cls = by_tag.get(OLD_ROLES.get(tag, tag), unknown)
        if cls is None:
            yield path, f"has an unknown {name!r}: {tag!r}"
            return
    reader_of(cls)  # resolves the annotations of its fields
    keeps_extra = keeps_unknown_fields(cls)
    for field in attrs.fields(cls):
        key = wire_name(field.name)
        if keeps_extra and key == "extra":
            continue  # in JSON it is an ordinary unknown field
        if key not in data:
            if field.default is attrs.NOTHING and field.name != "parent_id":
                yield f"{path}.{key}".lstrip("."), "is missing"
        elif data[key] is not None or field.default is attrs.NOTHING:
            yield from _problems(data[key], field.type, f"{path}.{key}".lstrip("."))


def _has_json_type(data: Any, kind: type[Any]) -> bool:
    return type(data) in ((int, float) if kind in (int, float) else (kind,))
