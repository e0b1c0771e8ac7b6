# ruff: noqa: F403 - imports for the type checker alone; a test compares the names
"""The seven tools of pi, read, bash, edit, write, grep, find and ls, and process for what bash leaves running.

The factories (``create_read_tool(cwd)``, ``create_coding_tools(cwd)`` ...), their options and the
operations that a plugin may replace are importable from here, and loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl
from pi_hookspecs.lazy import lazy_exports

if TYPE_CHECKING:  # for type checkers; a test checks that ``_HOMES`` agrees with these imports
    from collections.abc import Sequence

    from pi_hookspecs import Command, PiContext, PluginSetting, Service, SessionShutdownEvent, Tool
    from pi_tools.commands.local import LocalBashOperations as LocalBashOperations
    from pi_tools.factories import *
    from pi_tools.failure import ToolFailure as ToolFailure
    from pi_tools.find import LocalFindOperations as LocalFindOperations
    from pi_tools.local_files import LocalEditOperations as LocalEditOperations
    from pi_tools.local_files import LocalWriteOperations as LocalWriteOperations
    from pi_tools.mutation_queue import file_mutation_queue as file_mutation_queue
    from pi_tools.options import *
    from pi_tools.searching.ripgrep import LocalGrepOperations as LocalGrepOperations
    from pi_tools.searching.ripgrep import RipgrepFailed as RipgrepFailed
    from pi_tools.truncate import truncate_head as truncate_head
    from pi_tools.truncate import truncate_line as truncate_line
    from pi_tools.truncate import truncate_tail as truncate_tail

_HOMES = {
    "factories": (
        "create_all_tool_definitions create_all_tools create_bash_tool create_bash_tool_definition "
        "create_coding_tool_definitions create_coding_tools create_edit_tool create_edit_tool_definition "
        "create_find_tool create_find_tool_definition create_grep_tool create_grep_tool_definition create_ls_tool "
        "create_ls_tool_definition create_read_only_tool_definitions create_read_only_tools create_read_tool "
        "create_read_tool_definition create_tool_definition create_write_tool create_write_tool_definition"
    ),
    "failure": "ToolFailure",
    "find": "LocalFindOperations",
    "commands.local": "LocalBashOperations",
    "local_files": "LocalEditOperations LocalWriteOperations",
    "mutation_queue": "file_mutation_queue",
    "options": (
        "BashOperations BashOptions EditOperations EditOptions FindOperations FindOptions GrepOperations GrepOptions "
        "LsOperations LsOptions ReadOperations ReadOptions SpawnContext ToolsOptions WriteOperations WriteOptions"
    ),
    "searching.ripgrep": "LocalGrepOperations RipgrepFailed",
    "truncate": "truncate_head truncate_line truncate_tail",
}

_HOOKS = ["register_commands", "register_services", "register_settings", "register_tools", "session_shutdown"]

__all__ = sorted([*" ".join(_HOMES.values()).split(), *_HOOKS])  # noqa: PLE0605 - a name is written once


__getattr__ = lazy_exports(__name__, _HOMES)


@hookimpl
def register_tools() -> Sequence[Tool]:
    """Add the tools; grep, find and ls are not active by default."""
    from pi_tools.factories import session_tools

    return session_tools()


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/processes``."""
    from pi_tools.process import processes_command

    return [processes_command()]


@hookimpl
def register_services() -> Sequence[Service]:
    """Run the user's own commands, and keep background processes."""
    from pi_tools.user_command import ShellRunner
    from pi_tools.workspace import BackgroundProcesses

    return [ShellRunner(), BackgroundProcesses()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the settings of the tools that run commands."""
    from pi_tools.declared_settings import SETTINGS

    return SETTINGS


@hookimpl
async def session_shutdown(event: SessionShutdownEvent, ctx: PiContext) -> None:
    """End the session's background processes, and list to the user what still ran."""
    import sys

    for name in ("background", "managed") if event.reason != "reload" else ():
        module = sys.modules.get(f"pi_tools.commands.{name}")  # not loaded: there is no such process
        if module is not None:
            await module.end_session(ctx.session.id, ctx.ui)
