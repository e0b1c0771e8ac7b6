"""Recognises and parses skill files, and reports their problems."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pi_hookspecs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_core import Frontmatter
    from pi_hookspecs import ResourceContent, ResourceFile

__all__ = ["is_skill", "read_skill"]

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500

_NAME = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_TOOL = r"[^\s,(]+(?:\([^)]*\))?"
"""One of ``Read, Bash(git add:*)``."""


def is_skill(file_name: str, depth: int) -> bool:
    """Whether a file in a folder for skills is one; ``depth`` is the number of folders between them."""
    return file_name == "SKILL.md" or file_name.endswith(".skill.md" if depth else ".md")


def read_skill(file: ResourceFile, text: str) -> ResourceContent:
    """Return a skill's name, its description in one line, and the used fields.

    ``data`` has ``hidden: True`` (``disable-model-invocation``) and ``allowedTools``, each where the file sets it. A
    file that breaks a rule is reported and used anyway; only a skill without a description is not.
    """
    from pi_core import parse_frontmatter  # every session imports this module, few have a skill to parse

    written = parse_frontmatter(text, texts=("description",))
    values = written.values
    problems = [
        pi_hookspecs.ResourceProblem(path=file.path, line=line, message=message)
        for line, message in _problems(written, text)
    ]
    description = values.get("description")
    usable = isinstance(description, str) and bool(description.strip())
    if not usable and written.problem is None:
        message = "the skill has no description and is not loaded. Its frontmatter must contain 'description: ...'"
        if text.startswith("---") and written.body == text:
            message = "the skill's frontmatter is not closed, so it is not loaded. It must end with a line '---'"
        problems.append(pi_hookspecs.ResourceProblem(path=file.path, line=_line(text, "description"), message=message))
    return pi_hookspecs.ResourceContent(
        name=_name(values, file.path) if usable else None,
        description=" ".join(str(description).split()) if usable else "",
        data=_data(values),
        problems=problems,
    )


def _name(values: dict[str, Any], path: str) -> str:
    name = values.get("name")
    return name.strip() if isinstance(name, str) and name.strip() else _name_of_file(path)


def _name_of_file(path: str) -> str:
    """Return the folder's name for a SKILL.md, else the file's: the folder of such a file is just ``skills``."""
    folder, file_name = os.path.split(path)
    if file_name == "SKILL.md":
        return os.path.basename(folder)  # noqa: PTH119 - paths are strings here, and there may be hundreds
    return file_name.removesuffix(".md").removesuffix(".skill")


def _data(values: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    if values.get("disable-model-invocation") is True:
        data["hidden"] = True
    tools = values.get("allowed-tools", values.get("tools"))  # some skills have tools instead
    if isinstance(tools, str):
        data["allowedTools"] = re.findall(_TOOL, tools)
    elif isinstance(tools, list):
        data["allowedTools"] = [str(tool) for tool in tools]
    return data


def _problems(written: Frontmatter, text: str) -> Iterator[tuple[int | None, str]]:
    """Yield the problems, with their lines."""
    if written.problem is not None:
        yield written.line, written.problem
    for key, message in _broken_rules(written.values):
        yield _line(text, key), message


def _broken_rules(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    name, description = values.get("name"), values.get("description")
    if name is not None and not isinstance(name, str):
        yield "name", f"name must be a string, not {name!r:.60}; the name of the file is used"
    elif name is not None:
        yield from (("name", message) for message in _broken_name_rules(name.strip()))
    if isinstance(description, str) and len(description) > MAX_DESCRIPTION:
        yield "description", f"description has {len(description)} characters; the limit is {MAX_DESCRIPTION}"
    compatibility = values.get("compatibility") or ""
    if not isinstance(compatibility, str):
        yield "compatibility", f"compatibility must be a string, not {compatibility!r:.60}"
    elif len(compatibility) > MAX_COMPATIBILITY:
        yield "compatibility", f"compatibility has {len(compatibility)} characters; the limit is {MAX_COMPATIBILITY}"
    if not isinstance(values.get("metadata", {}), dict):
        yield "metadata", "metadata must be 'key: value' lines"
    if not isinstance(values.get("disable-model-invocation", False), bool):
        yield "disable-model-invocation", "disable-model-invocation must be true or false"


def _broken_name_rules(name: str) -> Iterator[str]:
    if len(name) > MAX_NAME:
        yield f"name {name!r:.80} has {len(name)} characters; the limit is {MAX_NAME}"
    if not re.fullmatch(_NAME, name):
        yield (f"name {name!r:.80} must consist of a-z, 0-9 and single hyphens, with none at its beginning and its end")


def _line(text: str, key: str) -> int | None:
    """Return the line of a key in the frontmatter."""
    lines = text.split("\n", 200)
    return next((number for number, line in enumerate(lines, 1) if line.startswith(f"{key}:")), None)
