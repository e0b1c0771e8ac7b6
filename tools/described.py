"""Classes of the contract as Markdown, made from their docstrings and fields: what both kinds of pages are built of."""

from __future__ import annotations

import re
from inspect import Parameter, Signature, getdoc, iscoroutinefunction, signature
from itertools import takewhile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import attrs

import pi_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Answers

__all__ = ["cell", "describe", "fields_table", "has_fields", "markdown", "split_attributes"]


def describe(heading: str, described: Any, declared: Answers | None = None) -> Iterator[str]:
    """Yield a section: the class's docstring, then its fields, or what a protocol asks for.

    Args:
        heading: Of the section, as Markdown.
        described: The class, or a union of classes.
        declared: How answers combine, where the class is that of an answer.
    """
    yield f"## {heading}\n"
    text, meanings = split_attributes((getdoc(described) if isinstance(described, type) else None) or "")
    if text:
        yield f"{text}\n"
    if not isinstance(described, type):
        for each in get_args(described):
            yield f"**`{each.__name__}`**: {markdown((getdoc(each) or '').splitlines()[0])}\n"
            yield from _members(each)
    elif has_fields(described):
        yield from fields_table(described, meanings, declared)
    else:
        yield from _members(described)


def split_attributes(doc: str) -> tuple[str, dict[str, str]]:
    """Split a class docstring into its text and the description of each attribute."""
    text, _, listed = doc.partition("\nAttributes:\n")
    meanings: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        found = re.match(r" {4}(\w+): (.*)", line)
        if found:
            name, meanings[found[1]] = found[1], found[2]
        elif line.startswith(" " * 8) and name:
            meanings[name] += f" {line.strip()}"
        elif line == "Raises:":
            break  # what its constructor refuses is not a field
        elif line.strip():
            text, name = f"{text.rstrip()}\n\n{line.strip()}", ""
    return markdown(text.strip()), {name: markdown(meaning) for name, meaning in meanings.items()}


def has_fields(described: type) -> bool:
    """Whether a class is a value: an attrs class or a named tuple."""
    return attrs.has(described) or hasattr(described, "_fields")


def fields_table(described: Any, meanings: dict[str, str], declared: Answers | None = None) -> Iterator[str]:
    """Yield the fields of an attrs class as a table."""
    fields = _fields(described)
    if not fields:
        yield "It has no fields.\n"
        return
    rules = declared.fields if declared is not None else {}
    heads = ["field", "type", "default", *(["rule"] if rules else []), *(["meaning"] if meanings else [])]
    yield f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}"
    for field in fields:
        cells = [f"`{field.name}`", f"`{cell(str(field.type))}`", _default(field)]
        if rules:
            cells.append(rules[field.name].value if field.name in rules else "")
        if meanings:
            cells.append(cell(meanings.get(field.name, "")))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _fields(described: Any) -> list[Any]:
    if attrs.has(described):
        return [each for each in attrs.fields(described) if each.init and each.alias and not each.name.startswith("_")]
    types, defaults = described.__annotations__, described._field_defaults
    return [
        SimpleNamespace(name=name, type=types[name].__forward_arg__, default=defaults.get(name, attrs.NOTHING))
        for name in described._fields
    ]


def markdown(text: str) -> str:
    """Return a docstring's text as Markdown."""
    return text.replace("``", "`")


def cell(text: str) -> str:
    """Return a text as it may be in a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def _default(field: Any) -> str:
    if field.default is attrs.NOTHING:
        return "required"
    value = field.default
    if isinstance(value, attrs.Factory):  # type: ignore[arg-type]
        make = value.factory
        value = make()
        if value and not isinstance(make, type):  # such as the time at which the value is made
            return f"`{make.__name__}()`"
    return f"`{cell(repr(value))}`" if not callable(value) else ""


def _members(described: type) -> Iterator[str]:
    """List what a protocol asks for, its own members first; what ``ToolContext`` has of ``PiContext`` is left out."""
    members: dict[str, Any] = {}
    for base in takewhile(lambda each: each is described or each is not pi_hookspecs.PiContext, described.__mro__):
        members = {**members, **{name: each for name, each in vars(base).items() if name not in members}}
    for name, member in members.items():
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        summary, *more = (getdoc(member) or "").split("\n\n")
        mark = getattr(getattr(member, "fget", member), "pi_deprecated", None)
        text = markdown(" ".join(summary.split()))
        yield f"- `{_called(name, member)}`: {text}{f' It {mark}.' if mark is not None else ''}"
        for paragraph in more:
            yield from _detail(paragraph)
    yield ""


def _detail(paragraph: str) -> Iterator[str]:
    """Yield what follows the first paragraph of a method's docstring, as list items below it."""
    head, _, listed = paragraph.partition("\n")
    verb = {"Raises:": "raises ", "Returns:": "returns: "}.get(head, "")
    if head not in ("Args:", "Raises:"):
        yield f"  - {verb}{markdown(' '.join(paragraph.removeprefix('Returns:').split()))}"
        return
    for name, meaning in split_attributes(f"\nAttributes:\n{listed}")[1].items():
        yield f"  - {verb}`{name}`: {meaning}"


def _called(name: str, member: Any) -> str:
    """Return how a member is used: ``name``, ``name(argument)`` or ``await name(argument, *, option=None)``."""
    if isinstance(member, property):
        return name
    waits = "await " if iscoroutinefunction(member) else ""
    taken = [each.replace(annotation=Parameter.empty) for each in signature(member).parameters.values()]
    return f"{waits}{name}{Signature([each for each in taken if each.name != 'self'])}"
