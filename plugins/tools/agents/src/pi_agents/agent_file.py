"""Parses agent files: front matter in the format of pi or Claude Code, followed by the agent's instructions."""

from __future__ import annotations

import re
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve

import pi_hookspecs
from pi_agents.tool_names import read_tool_names, split_names
from pi_core import parse_frontmatter
from pi_hookspecs import THINKING_LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import Frontmatter
    from pi_hookspecs import ResourceContent, ResourceFile

__all__ = ["KEYS", "line_of", "read_agent"]

KEYS = (
    "name",
    "description",
    "tools",
    "disallowedTools",
    "model",
    "thinking",
    "effort",
    "maxTurns",
    "maxCost",
    "isolation",
    "background",
    "skills",
)
"""The keys that have an effect."""

_NAME = re.compile(r"[A-Za-z0-9][\w.:-]{0,63}")


def read_agent(file: ResourceFile, text: str) -> ResourceContent:
    """Return an agent: its name, its description, and its configuration from the front matter as ``data``.

    ``data`` has ``tools`` and ``optionalTools`` (None for the tools of the calling session), ``withoutTools``,
    ``model``, ``thinking``, ``maxTurns``, ``maxCost``, ``isolation``, ``background``, ``skills`` and ``notes``, which
    are sentences about the values that were ignored. An agent with a problem is not offered.
    """
    written = _front_matter(text)
    values, notes, problems = written.values, [], []
    data: dict[str, Any] = {}
    name = values.get("name", Path(file.path).stem)
    description = values.get("description")
    if written.problem is not None:
        problems.append((written.problem, written.line))
    elif not values:
        problems.append(("has no front matter: it must begin with lines '---', 'description: ...', '---'", 1))
    elif not isinstance(description, str) or not description.strip():
        problems.append(
            ("does not describe what the agent is for: add 'description: ...'", line_of(text, "description"))
        )
    if not isinstance(name, str) or not _NAME.fullmatch(name.strip()):
        problems.append(
            (f"name {name!r:.80} must be 1 to 64 letters, digits, '-', '_', '.' or ':'", line_of(text, "name"))
        )
    for key, value in values.items():
        if key not in KEYS:
            notes.append(f"{key!r} has no meaning for pi and is ignored")
        elif value is not None and key not in ("name", "description"):
            message = _take(key, value, data, notes)
            if message is not None:
                problems.append((message, line_of(text, key)))
    if written.problem is None and not written.body.strip():
        notes.append("there are no instructions after the front matter")
    return pi_hookspecs.ResourceContent(
        name=None if problems else str(name).strip(),
        description=" ".join(str(description or "").split()),
        data={**data, "notes": notes},
        problems=[
            pi_hookspecs.ResourceProblem(path=file.path, line=line, message=f"{message}. The agent is not offered")
            for message, line in problems
        ],
    )


def _front_matter(text: str) -> Frontmatter:
    """Return the front matter; if it is not valid YAML, read its ``key: value`` lines literally.

    Many public files of Claude Code have descriptions with colons and quotes that are not valid in YAML.
    """
    written = parse_frontmatter(text, literal=True)
    if written.problem is None:
        return written
    return evolve(written, problem=None, line=None) if "description" in written.values else evolve(written, values={})


def _take(key: str, value: Any, data: dict[str, Any], notes: list[str]) -> str | None:
    """Store the value of a key in the data; return the problem with the value, if there is one."""
    if key in ("tools", "disallowedTools", "skills"):
        return _take_names(key, value, data, notes)
    if key in ("maxTurns", "maxCost"):
        return _take_limit(key, value, data)
    if key in ("thinking", "effort"):
        return _take_level(key, value, data)
    if key == "isolation" and value not in ("none", "worktree"):
        return f"isolation must be none or worktree, not {value!r:.60}"
    if key == "background":
        value = value is True or str(value).casefold() == "true"
    data[key] = str(value).strip() if key == "model" else value
    return None


def _take_names(key: str, value: Any, data: dict[str, Any], notes: list[str]) -> str | None:
    names = split_names(value)
    if names is None:
        return f"{key} must be a list of names, or names with commas between them, not {value!r:.60}"
    if key == "skills":
        data["skills"] = names
    elif key == "disallowedTools":
        without = read_tool_names(each.partition("(")[0] for each in names)
        data["withoutTools"] = [*without.required, *without.optional]
    elif names:
        tools = read_tool_names(names)
        data.update(tools=list(tools.required), optionalTools=list(tools.optional))
        notes += tools.notes
    return None


def _take_limit(key: str, value: Any, data: dict[str, Any]) -> str | None:
    try:
        number = float(value) if not isinstance(value, bool) else 0.0
    except (TypeError, ValueError):
        number = 0.0
    if not isfinite(number) or number <= 0 or (key == "maxTurns" and number != int(number)):
        kind = "a whole number above 0" if key == "maxTurns" else "a number of dollars above 0"
        return f"{key} must be {kind}, not {value!r:.60}"
    data[key] = int(number) if key == "maxTurns" else number
    return None


def _take_level(key: str, value: Any, data: dict[str, Any]) -> str | None:
    level = {False: "off", True: "medium"}.get(value, value) if isinstance(value, bool) else value
    if level not in THINKING_LEVELS:
        return f"{key} must be one of {', '.join(THINKING_LEVELS)}, not {value!r:.60}"
    data["thinking"] = level
    return None


def line_of(text: str, key: str) -> int | None:
    """Return the line number of a key in the front matter, from 1; None if the key is missing."""
    lines: Iterator[tuple[int, str]] = enumerate(text.split("\n", 200), 1)
    return next((number for number, line in lines if line.startswith(f"{key}:")), None)
