"""The tools as objects, one by one and in the groups that programs use; nothing else of the package knows all seven."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import UnknownName
from pi_tools.bash import bash_tool
from pi_tools.edit import edit_tool
from pi_tools.find import find_tool
from pi_tools.grep import grep_tool
from pi_tools.ls import ls_tool
from pi_tools.powershell import find_powershell, powershell_tool
from pi_tools.process import process_tool
from pi_tools.read import read_tool
from pi_tools.write import write_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pi_hookspecs.tools import Tool
    from pi_tools.options import (
        BashOptions,
        EditOptions,
        FindOptions,
        GrepOptions,
        LsOptions,
        ReadOptions,
        ToolsOptions,
        WriteOptions,
    )

__all__ = [
    "create_all_tool_definitions",
    "create_all_tools",
    "create_bash_tool",
    "create_bash_tool_definition",
    "create_coding_tool_definitions",
    "create_coding_tools",
    "create_edit_tool",
    "create_edit_tool_definition",
    "create_find_tool",
    "create_find_tool_definition",
    "create_grep_tool",
    "create_grep_tool_definition",
    "create_ls_tool",
    "create_ls_tool_definition",
    "create_read_only_tool_definitions",
    "create_read_only_tools",
    "create_read_tool",
    "create_read_tool_definition",
    "create_tool_definition",
    "create_write_tool",
    "create_write_tool_definition",
    "session_tools",
]

_Path = str | os.PathLike[str]

_MAKERS: dict[str, Callable[[str | None, Any], Tool]] = {
    "read": read_tool,
    "bash": bash_tool,
    "edit": edit_tool,
    "write": write_tool,
    "grep": grep_tool,
    "find": find_tool,
    "ls": ls_tool,
}
_CODING = ("read", "bash", "edit", "write")
_READ_ONLY = ("read", "grep", "find", "ls")


def session_tools() -> list[Tool]:
    """Return the seven tools for the directory of the session that calls them, and the one for its processes.

    Where there is a PowerShell, its tool comes last.
    """
    others = [powershell_tool()] if find_powershell() is not None else []
    return [*(make(None, None) for make in _MAKERS.values()), process_tool(), *others]


def _several(names: Iterable[str], cwd: _Path, options: ToolsOptions | None) -> dict[str, Tool]:
    where = _directory(cwd)
    return {name: _MAKERS[name](where, options and getattr(options, name)) for name in names}


def _directory(cwd: _Path) -> str:
    return os.path.abspath(os.path.expanduser(os.fspath(cwd)))


def create_read_tool(cwd: _Path, options: ReadOptions | None = None) -> Tool:
    """Return ``read`` for a directory."""
    return read_tool(_directory(cwd), options)


def create_bash_tool(cwd: _Path, options: BashOptions | None = None) -> Tool:
    """Return ``bash`` for a directory."""
    return bash_tool(_directory(cwd), options)


def create_edit_tool(cwd: _Path, options: EditOptions | None = None) -> Tool:
    """Return ``edit`` for a directory."""
    return edit_tool(_directory(cwd), options)


def create_write_tool(cwd: _Path, options: WriteOptions | None = None) -> Tool:
    """Return ``write`` for a directory."""
    return write_tool(_directory(cwd), options)


def create_grep_tool(cwd: _Path, options: GrepOptions | None = None) -> Tool:
    """Return ``grep`` for a directory."""
    return grep_tool(_directory(cwd), options)


def create_find_tool(cwd: _Path, options: FindOptions | None = None) -> Tool:
    """Return ``find`` for a directory."""
    return find_tool(_directory(cwd), options)


def create_ls_tool(cwd: _Path, options: LsOptions | None = None) -> Tool:
    """Return ``ls`` for a directory."""
    return ls_tool(_directory(cwd), options)


def create_coding_tools(cwd: _Path, options: ToolsOptions | None = None) -> list[Tool]:
    """Return read, bash, edit and write for a directory."""
    return [*_several(_CODING, cwd, options).values()]


def create_read_only_tools(cwd: _Path, options: ToolsOptions | None = None) -> list[Tool]:
    """Return read, grep, find and ls for a directory."""
    return [*_several(_READ_ONLY, cwd, options).values()]


def create_all_tools(cwd: _Path, options: ToolsOptions | None = None) -> dict[str, Tool]:
    """Return all seven for a directory, by name."""
    return _several(_MAKERS, cwd, options)


def create_tool_definition(name: str, cwd: _Path, options: Any = None) -> Tool:
    """Return one tool by its name, with that tool's options.

    Raises:
        UnknownName: There is no such tool here.
    """
    if name not in _MAKERS:
        raise UnknownName("tool", name, _MAKERS)
    return _MAKERS[name](_directory(cwd), options)


# A tool and its definition are one object here: the context comes with the call, not with the wrapping.
create_read_tool_definition = create_read_tool
create_bash_tool_definition = create_bash_tool
create_edit_tool_definition = create_edit_tool
create_write_tool_definition = create_write_tool
create_grep_tool_definition = create_grep_tool
create_find_tool_definition = create_find_tool
create_ls_tool_definition = create_ls_tool
create_coding_tool_definitions = create_coding_tools
create_read_only_tool_definitions = create_read_only_tools
create_all_tool_definitions = create_all_tools
