"""Parses a template's file."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pi_hookspecs

if TYPE_CHECKING:
    from pi_hookspecs import ResourceContent, ResourceFile

__all__ = ["read_template"]

_HINTS = re.compile(r"\[[^]]*\](?: +\[[^]]*\])+")
MAX_FIRST_LINE = 60
"""Characters of the first line that are used as a description."""


def read_template(file: ResourceFile, text: str) -> ResourceContent:
    """Return a template's name and description; ``data`` has ``argumentHint`` where the file gives one.

    Invalid frontmatter is reported, and the text after it is used. A hint of several arguments in brackets is valid:
    commands of other agents have ``argument-hint: [issue] [priority]``.
    """
    from pi_core import parse_frontmatter  # every session imports this module, few have a template to parse

    written, problems = parse_frontmatter(text, texts=("description",)), []
    literal = parse_frontmatter(text, literal=True, texts=("description",)) if written.problem is not None else written
    if literal is not written and _HINTS.fullmatch(str(literal.values.get("argument-hint", ""))):
        written = literal
    elif written.problem is not None:
        problems.append(pi_hookspecs.ResourceProblem(path=file.path, line=written.line, message=written.problem))
    name = os.path.basename(file.path).removesuffix(".md")  # noqa: PTH119 - there may be hundreds
    if len(name.split()) != 1:
        message = f"/{name} cannot be called: a name ends at the first space. Rename the file"
        problems.append(pi_hookspecs.ResourceProblem(path=file.path, message=message))
    hint = _in_brackets(written.values.get("argument-hint"))
    return pi_hookspecs.ResourceContent(
        name=name,
        description=_described(written.values.get("description"), written.body),
        data={"argumentHint": hint} if hint else {},
        problems=problems,
    )


def _described(description: Any, body: str) -> str:
    if isinstance(description, str) and description.strip():
        return " ".join(description.split())
    first = next((line.strip() for line in body.splitlines() if line.strip()), "")
    return first if len(first) <= MAX_FIRST_LINE else f"{first[:MAX_FIRST_LINE]}..."


def _in_brackets(hint: Any) -> str:
    """Return the hint as it was written: to YAML ``[file]`` is a list."""
    if isinstance(hint, list):
        return " ".join(f"[{each}]" for each in hint)
    return "" if hint is None else str(hint).strip()
