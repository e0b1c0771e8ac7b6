"""Classes of the contract as Markdown, made from their docstrings and fields: what both kinds of pages are built of."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from inspect import Parameter, Signature, getdoc, getsource, iscoroutinefunction, signature
from itertools import pairwise, takewhile
from textwrap import dedent
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, get_args

import attrs

import pi_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_hookspecs import Answers

__all__ = ["cell", "describe", "fields_table", "has_fields", "markdown", "split_attributes"]

_FOR_HOSTS = ("problem", "problem_of", "changed_by")
"""What checks and combines the answers of plugins."""


def describe(heading: str, described: Any, declared: Answers | None = None) -> Iterator[str]:
    """Yield a section: the class's docstring, then its fields and what it can do, or what a protocol asks for.

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
            yield from _asked(each, split_attributes(getdoc(each) or "")[1])
    elif has_fields(described):
        yield from fields_table(described, meanings, declared)
        if members := [*_members(described)]:
            yield from [*members, ""]
    else:
        yield from _asked(described, meanings)


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
    """Yield the fields of an attrs class as a table, those that it is made with."""
    fields = _fields(described, meanings)
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


def _fields(described: Any, meanings: dict[str, str]) -> list[Any]:
    if attrs.has(described):
        made_with = [each for each in attrs.fields(described) if each.init and each.alias]
        return [
            SimpleNamespace(name=each.alias, type=each.type, default=each.default)
            for each in made_with
            if not each.name.startswith("_")
            or each.alias in meanings  # computed from what is passed, such as a function
        ]
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


def _asked(described: type, meanings: dict[str, str]) -> Iterator[str]:
    """List what a protocol asks for: its attributes, then its methods."""
    for base in _bases(described):
        for name, text in _attributes(base).items():
            yield f"- `{name}`: {markdown(meanings.get(name) or text)}"
    yield from _members(described)
    yield ""


def _attributes(described: type) -> dict[str, str]:
    """Return the annotated attributes of a protocol, each with the string that follows it."""
    declared = ast.parse(dedent(getsource(described))).body[0]
    found: dict[str, str] = {}
    for each, after in pairwise([*declared.body, ast.Pass()]):  # type: ignore[attr-defined]
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.target.id[0] != "_":
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            found[each.target.id] = " ".join(str(text).split())
    return found


def _bases(described: type) -> Iterator[type]:
    """Yield a class and those it extends; what ``ToolContext`` has of ``PiContext`` is left out."""
    bases = takewhile(lambda each: each is described or each is not pi_hookspecs.PiContext, described.__mro__)
    return (each for each in bases if each.__module__.startswith("pi_") and each is not pi_hookspecs.values.Value)


def _members(described: type) -> Iterator[str]:
    """List the methods and computed attributes of a class, its own first."""
    members: dict[str, Any] = {}
    for base in _bases(described):
        members = {**members, **{name: each for name, each in vars(base).items() if name not in members}}
    for name, member in members.items():
        if name.startswith("_") or name in _FOR_HOSTS or not _is_shown(member):
            continue
        summary, *more = (getdoc(member) or "").split("\n\n")
        mark = getattr(getattr(member, "fget", member), "pi_deprecated", None)
        text = markdown(" ".join(summary.split()))
        yield f"- `{_called(name, member, described)}`: {text}{f' It {mark}.' if mark is not None else ''}"
        for paragraph in more:
            yield from _detail(paragraph)


def _is_shown(member: Any) -> bool:
    return callable(member) or isinstance(member, property | cached_property | classmethod | staticmethod)


def _detail(paragraph: str) -> Iterator[str]:
    """Yield what follows the first paragraph of a method's docstring, as list items below it."""
    head, _, listed = paragraph.partition("\n")
    verb = {"Raises:": "raises ", "Returns:": "returns: "}.get(head, "")
    if head not in ("Args:", "Raises:"):
        yield f"  - {verb}{markdown(' '.join(paragraph.removeprefix('Returns:').split()))}"
        return
    for name, meaning in split_attributes(f"\nAttributes:\n{listed}")[1].items():
        yield f"  - {verb}`{name}`: {meaning}"


def _called(name: str, member: Any, described: type) -> str:
    """Return how a member is used: ``name``, ``name(argument, *, key=None)``, ``await name()`` or ``Class.name()``."""
    if isinstance(member, property | cached_property):
        return name
    if isinstance(member, classmethod | staticmethod):
        name, member = f"{described.__name__}.{name}", member.__func__
    waits = "await " if iscoroutinefunction(member) else ""
    taken = [each.replace(annotation=Parameter.empty) for each in signature(member).parameters.values()]
    return f"{waits}{name}{Signature([each for each in taken if each.name not in ('self', 'cls')])}"
