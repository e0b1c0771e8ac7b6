"""Parses docstrings in Google's style: the summary and body, and the description of each argument."""

from __future__ import annotations

import re

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value

__all__ = ["Docstring", "parse"]

_DESCRIBES_NAMES = ("Args", "Arguments", "Parameters", "Attributes")
_NOT_FOR_THE_MODEL = (*_DESCRIBES_NAMES, "Returns", "Return", "Yields", "Raises")
_HEADING = re.compile(r"(\w+):\s*$")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")


@frozen(eq=False, repr=False)
class Docstring(Value):
    """A docstring in its parts.

    Attributes:
        text: Summary and body, without the sections on arguments, result and errors.
        names: Description of each argument (or attribute), on one line.
    """

    text: str
    names: dict[str, str]


def parse(docstring: str | None) -> Docstring:
    """Return the parts of a docstring, as ``inspect.getdoc`` or ``cleandoc`` give it."""
    kept: list[str] = []
    entries: list[str] = []
    section = kept
    for line in (docstring or "").splitlines():
        heading = _HEADING.match(line)
        if heading and heading[1] in _NOT_FOR_THE_MODEL:
            section = entries if heading[1] in _DESCRIBES_NAMES else []
            continue
        if line and not line[0].isspace():  # text at the margin ends the section before it
            section = kept
        section.append(line)
    return Docstring(re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip(), _entries(entries))


def _entries(lines: list[str]) -> dict[str, str]:
    """Read ``name: text`` at the section's own indentation; a deeper line continues the text."""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    entries: dict[str, str] = {}
    name = ""
    for line in lines:
        start = _ENTRY.match(line.strip()) if _indent(line) == margin else None
        if start:
            name = start[1]
            entries[name] = start[2]
        elif name:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
