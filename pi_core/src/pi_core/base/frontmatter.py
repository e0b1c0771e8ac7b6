"""The YAML block at the beginning of a Markdown file, such as a skill or a prompt template."""

from __future__ import annotations

import re
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Frontmatter", "parse_frontmatter"]

MAX_VALUES = 10_000
"""Maximum number of values in one block: aliases of aliases could expand a few lines to millions."""

MAX_DEPTH = 50
"""Maximum nesting of one block."""

_BLOCK = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_SIMPLE = re.compile(
    r"(?P<key>[A-Za-z_][\w-]*):[ \t]+"
    r"(?:\"(?P<double>[^\"\\]*)\"|'(?P<single>[^']*)'|(?P<plain>(?:[A-Za-z(/]|<(?!<)).*))"
)
"""A line that needs no YAML parser: importing one takes longer than reading 100 such files."""
_LINE = re.compile(r"([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")
_ODD = re.compile(r"[\[\]{},&*!%@`#?-]|(?s:.*)(?::(?:\s|\Z)|\s#)")
"""Matches a text that YAML does not read as it is written: by its first character, or by what is in it."""
_QUOTED = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"|'(?:''|[^'])*')\s*(?:#.*)?", re.DOTALL)
_SPECIAL = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_NOT_PLAIN = re.compile(r":(?:\s|$)|\s#|\s$")


@frozen(kw_only=True)
class Frontmatter:
    """The two parts of a Markdown file.

    Attributes:
        values: The block's values as plain JSON, with dates as texts. Empty if there is no block, or if it is invalid
            and was not read literally.
        body: The text after the block; the whole text if there is no block.
        body_line: The line of the file on which the body begins, from 1.
        problem: What is wrong with the block; None if nothing is.
        line: The line of the file with the problem, from 1.
    """

    values: dict[str, Any]
    body: str
    body_line: int = 1
    problem: str | None = None
    line: int | None = None


def parse_frontmatter(text: str, *, literal: bool = False, texts: Iterable[str] = ()) -> Frontmatter:
    """Return the block and the body. An invalid block is reported in ``problem`` and raises no exception.

    Args:
        text: The text of the file.
        literal: Whether the lines ``key: value`` of a block that is not YAML are read as they are written, which files
            of Claude Code rely on: ``argument-hint: [issue] [priority]``. ``problem`` still says what is wrong.
        texts: Keys whose values are sentences: what is not quoted is read as it is written, although YAML would refuse
            ``: `` and some first characters, cut at `` #``, and make lists of ``[...]``.
    """
    if not text.startswith("---"):
        return Frontmatter(values={}, body=text)
    found = _BLOCK.match(text)
    if found is None:
        return Frontmatter(values={}, body=text)  # a horizontal rule, or an unfinished block
    block = found[1]
    sentences = {}
    for key in texts:
        block, sentence = _without(block, key)
        if sentence is not None:
            sentences[key] = sentence
    values, problem, line = _simple(block), None, None
    if values is None:
        values, problem, line = _yaml(block)
        if problem is not None and literal:
            values = _literal(block)
    body = text[found.end() :]
    return Frontmatter(
        values={**values, **sentences},
        body=body,
        body_line=text.count("\n", 0, found.end()) + 1,
        problem=problem,
        line=None if line is None else line + 2,  # one for the fence, one for counting from 1
    )


def _without(block: str, key: str) -> tuple[str, str | None]:
    """Return a block in which a key has a value that YAML reads, and the key's sentence; None if YAML reads it best."""
    found = re.search(rf"^{re.escape(key)}:[ \t]+([^\s|>].*(?:\n[ \t]+\S.*)*)", block, re.MULTILINE)
    if found is None or _QUOTED.fullmatch(found[1].strip()) or not (found[1][0] in "\"'" or _ODD.match(found[1])):
        return block, None
    lines = found[0].count("\n")
    rest = block[found.end() :].lstrip("\r")
    return f"{block[: found.start()]}{key}: x{chr(10) * lines}{rest}", " ".join(found[1].split())


def _simple(block: str) -> dict[str, Any] | None:
    """Return the values of a block that contains only one-line texts; None if the block needs a YAML parser."""
    values: dict[str, Any] = {}
    for each in block.split("\n"):
        line = each.rstrip(" \t\r")  # in YAML, other whitespace is part of the value
        if not line:
            continue
        found = _SIMPLE.fullmatch(line)
        if found is None or found["key"] in values:
            return None
        plain = found["plain"]
        if plain is not None and (plain.casefold() in _SPECIAL or _NOT_PLAIN.search(plain)):
            return None
        values[found["key"]] = next(text for text in found.group("plain", "double", "single") if text is not None)
    return values


def _literal(block: str) -> dict[str, Any]:
    """Return the texts of all lines ``key: value``; other lines continue the value before them."""
    values: dict[str, Any] = {}
    latest = ""
    for line in block.splitlines():
        found = _LINE.match(line)
        if found is not None:
            latest = found[1]
            values[latest] = (found[2] or "").strip().strip("\"'")
        elif latest and line.strip():
            values[latest] = f"{values[latest]}\n{line.strip()}".strip()
    return values


def _yaml(block: str) -> tuple[dict[str, Any], str | None, int | None]:
    """Return the values, or else what is wrong and the line of the block, from 0."""
    import yaml  # type: ignore[import-untyped]

    try:
        _check_depth(block)
        values = _plain(yaml.load(block, Loader=_loader()), iter(range(MAX_VALUES)))  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return {}, f"broken YAML: {error.problem or error}", mark.line if mark is not None else None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return {}, f"broken YAML: {str(error).splitlines()[0]}", None
    if values is None or isinstance(values, dict):
        return values or {}, None, None
    return {}, "the block must be lines of 'key: value'", 0


def _check_depth(block: str) -> None:
    """Check the nesting of a block by its events: the C loader builds values by recursion, and ends the process.

    Raises:
        ValueError: It is nested too deeply.
        yaml.YAMLError: It is not YAML.
    """
    import yaml

    depth = 0
    for event in yaml.parse(block, Loader=_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} deep")


@cache
def _loader() -> type[Any]:
    """Return a safe YAML loader that reads dates as texts; the C loader if it is installed."""
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        yaml_implicit_resolvers = {  # noqa: RUF012 - as PyYAML declares it
            first: [each for each in resolvers if each[0] != "tag:yaml.org,2002:timestamp"]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    return Loader


def _plain(value: Any, room: Iterator[int]) -> Any:
    """Return a value as plain JSON with aliases expanded; more than ``MAX_VALUES`` values raise ``ValueError``."""
    if next(room, None) is None:
        raise ValueError(f"more than {MAX_VALUES} values")
    if isinstance(value, dict):
        return {str(key): _plain(item, room) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, room) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
