"""Finds mistakes in the JSON schema of a tool when the tool is registered, without compiling the schema.

A provider refuses a request with a broken schema, and so every request of the session.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pi_core.agent.safe_text import safe_repr

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["schema_problem"]

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SCHEMAS = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPPINGS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
_WITH_SCHEMAS = frozenset({*_SCHEMAS, *_LISTS, *_MAPPINGS})
_OBJECT = (dict, Mapping)
"""The class first that nearly every schema has: to ask an abstract class takes ten times as long."""

_MOST_DEPTH = 64
_BROKEN = ("unterminated", "missing )", "unbalanced", "nothing to repeat")
"""How Python words mistakes that are mistakes in every dialect of regular expressions."""


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a schema, and where; None if nothing was found.

    Types, references inside the schema and regular expressions are looked at; what else is wrong, a call reports.
    """
    return _problem(schema, schema, "parameters", 0)


def _problem(schema: Any, root: Mapping[str, Any], path: str, depth: int) -> str | None:
    if isinstance(schema, bool) or depth > _MOST_DEPTH:
        return None
    if not isinstance(schema, _OBJECT):
        return f"{path} is {safe_repr(schema)}, which is not a schema"
    for keyword, value in schema.items():
        found = _own_problem(keyword, value, root, path)
        if found is not None:
            return found
        for each, at in _inner(keyword, value, path) if keyword in _WITH_SCHEMAS else ():
            found = _problem(each, root, at, depth + 1)
            if found is not None:
                return found
    return None


def _own_problem(keyword: str, value: Any, root: Mapping[str, Any], path: str) -> str | None:
    if keyword == "type":
        for each in value if isinstance(value, list | tuple) else (value,):
            if not isinstance(each, str) or each not in _TYPES:
                return f"{path}.type is {safe_repr(each)}, which is none of {', '.join(sorted(_TYPES))}"
    elif keyword == "$ref":
        if isinstance(value, str) and value.startswith("#") and not _resolves(value, root):
            return f"{path}.$ref is {value!r}, which is not in the schema"
    elif keyword == "pattern" and isinstance(value, str) and (mistake := _mistake_in(value)) is not None:
        return f"{path}.pattern is {value!r:.80}, which is not a regular expression: {mistake}"
    return None


def _inner(keyword: str, value: Any, path: str) -> Iterable[tuple[Any, str]]:
    """Return the schemas that the value of a keyword has, and where."""
    if keyword in _MAPPINGS and isinstance(value, _OBJECT):
        at = path if keyword == "properties" else f"{path}.{keyword}"
        return [(each, f"{at}.{key}") for key, each in value.items()]
    if keyword in _LISTS and isinstance(value, Sequence) and not isinstance(value, str):
        return [(each, f"{path}.{keyword}[{index}]") for index, each in enumerate(value)]
    return [(value, f"{path}.{keyword}")] if keyword in _SCHEMAS and isinstance(value, _OBJECT) else []


def _resolves(reference: str, root: Any) -> bool:
    """Whether a reference inside the schema leads somewhere; names of anchors are not looked for."""
    if reference in ("#", "#/"):
        return True
    if not reference.startswith("#/"):
        return True
    for part in reference[2:].split("/"):
        step = part.replace("~1", "/").replace("~0", "~")
        if isinstance(root, Mapping) and step in root:
            root = root[step]
        elif isinstance(root, list | tuple) and step.isdigit() and int(step) < len(root):
            root = root[int(step)]
        else:
            return False
    return True


def _mistake_in(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        is_javascript = "[^]" in pattern or "[]" in pattern
        message = str(error)
        return message if message.startswith(_BROKEN) and not is_javascript else None
    return None
