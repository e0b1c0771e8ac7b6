"""Names of tools in agent files: Claude Code's become those of pi."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["ToolNames", "read_tool_names", "split_names"]

_SAME = {
    "read": "read",
    "notebookread": "read",
    "write": "write",
    "edit": "edit",
    "multiedit": "edit",
    "notebookedit": "edit",
    "bash": "bash",
    "grep": "grep",
    "glob": "find",
    "find": "find",
    "ls": "ls",
}
_OPTIONAL = {
    "webfetch": "fetch",
    "todowrite": "todo",
    "todoread": "todo",
    "task": "task",
    "agent": "task",
    "taskoutput": "task_output",
    "agentoutputtool": "task_output",
    "taskstop": "task_stop",
    "bashoutput": "process",
    "killbash": "process",
    "killshell": "process",
    "skill": "load_skill",
}
"""Tools of plugins that may be missing."""

_ABSENT = frozenset(
    {
        "askuserquestion",
        "enterplanmode",
        "exitplanmode",
        "listmcpresourcestool",
        "lsp",
        "readmcpresourcetool",
        "slashcommand",
        "toolsearch",
        "websearch",
    }
)
"""Tools of Claude Code that pi has no counterpart of."""

_SERVER = re.compile(r"mcp__(?:(?!__).)+")
"""All tools of an MCP server."""

_ITEM = re.compile(r"[^\s,(]+(?:\([^)]*\))?")


@frozen
class ToolNames:
    """The tools that a file names, as pi calls them.

    Attributes:
        required: Names and patterns; an agent with one that is not installed is not offered.
        optional: Names and patterns that are used where there is such a tool.
        notes: Sentences about what was left out.
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


def split_names(value: object) -> list[str] | None:
    """Return the names of a list, or of a text with commas or spaces between them; None for anything else."""
    if isinstance(value, str):
        return _ITEM.findall(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return [each.strip() for each in value if each.strip()]
    return None


def read_tool_names(names: Iterable[str]) -> ToolNames:
    """Return the names as pi's."""
    required: list[str] = []
    optional: list[str] = []
    notes: list[str] = []
    for written in names:
        name, restricted, _ = written.partition("(")
        known = name.casefold()
        if restricted:
            notes.append(f"{written!r} restricts the tool, which pi cannot do: the agent does not get {name!r}")
        elif known in _SAME:
            required.append(_SAME[known])
        elif known in _OPTIONAL:
            optional.append(_OPTIONAL[known])
        elif known in _ABSENT:
            notes.append(f"pi has no tool for {written!r}; the agent does without")
        elif _SERVER.fullmatch(name):
            optional.append(f"{name}__*")
        elif name.startswith("mcp__") or any(sign in name for sign in "*?["):
            optional.append(name)
        else:
            required.append(name)
    return ToolNames(tuple(dict.fromkeys(required)), tuple(dict.fromkeys(optional)), tuple(notes))
