"""Finds mistakes in the JSON schema of a tool when the tool is registered, without compiling the schema.

A provider refuses a request with a broken schema, and so every request of the session.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pi_core.agent.safe_text import safe_repr

__all__ = ["schema_problem"]

_TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_SCHEMAS = ("additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_MAPPINGS = ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties")
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
    if not isinstance(schema, Mapping):
        return f"{path} is {safe_repr(schema)}, which is not a schema"
    found = _own_problem(schema, root, path)
    if found is not None:
        return found
    for each, at in _inner(schema, path):
        found = _problem(each, root, at, depth + 1)
        if found is not None:
            return found
    return None


def _own_problem(schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> str | None:
    declared = schema.get("type", [])
    for each in [declared] if isinstance(declared, str) else declared if isinstance(declared, Sequence) else [declared]:
        if not isinstance(each, str) or each not in _TYPES:
            return f"{path}.type is {safe_repr(each)}, which is none of {', '.join(sorted(_TYPES))}"
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and not _resolves(reference, root):
        return f"{path}.$ref is {reference!r}, which is not in the schema"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and (mistake := _mistake_in(pattern)) is not None:
        return f"{path}.pattern is {pattern!r:.80}, which is not a regular expression: {mistake}"
    return None


def _inner(schema: Mapping[str, Any], path: str) -> list[tuple[Any, str]]:
    found = [(schema[each], f"{path}.{each}") for each in _SCHEMAS if isinstance(schema.get(each), Mapping)]
    for name in _LISTS:
        listed = schema.get(name)
        if isinstance(listed, Sequence) and not isinstance(listed, str):
            found += [(each, f"{path}.{name}[{index}]") for index, each in enumerate(listed)]
    for name in _MAPPINGS:
        named = schema.get(name)
        if isinstance(named, Mapping):
            at = path if name == "properties" else f"{path}.{name}"
            found += [(each, f"{at}.{key}") for key, each in named.items()]
    return found


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
