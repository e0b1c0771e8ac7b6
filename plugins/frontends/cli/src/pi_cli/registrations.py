"""Registrations of this plugin; implementations are imported when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Command, Mode, Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PermissionStore, PiContext, PluginSetting

__all__ = [
    "register_commands",
    "register_modes",
    "register_permissions",
    "register_settings",
    "register_subcommands",
]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add the plain front ends: the interactive line mode, and two without interaction."""
    return [
        Mode("line", run=_line, interactive=True, priority=0, description="A simple line editor, for any terminal"),
        Mode("print", run=_print, description="Print the answer and exit"),
        Mode("json", run=_json, description="Print every event as a line of JSON and exit"),
    ]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add the subcommands for inspection, and for logins."""
    return [
        Subcommand("auth", run=_auth, description="Sign in, store keys, and check what is stored"),
        Subcommand("plugins", run=_plugins, description="List the installed plugins, or describe one"),
        Subcommand("config", run=_config, description="Show settings with their sources, and change them"),
        Subcommand("trust", run=_trust, description="Trust this folder's settings, skills and extensions"),
        Subcommand("permissions", run=_permissions, description="List remembered decisions, and undo one"),
        Subcommand("prompt", run=_prompt, description="Show the system prompt, and the source of each part"),
        Subcommand("resources", run=_resources, description="List skills, templates, context files and themes"),
        Subcommand("hooks", run=_hooks, description="List the hooks, describe one, or try one"),
        Subcommand("completion", run=_completion, description="Print the completion script for bash, zsh or fish"),
        Subcommand("plugin", run=_plugin, description="Create a plugin project: code, tests and CI"),
        Subcommand("attach lines", run=_attach_lines, description="Talk in a served session, line by line"),
    ]


@hookimpl
def register_commands() -> Sequence[Command]:
    """Add ``/permissions`` and ``/bug``, in every front end."""
    return [
        Command(
            "permissions",
            handler=_show_permissions,
            description="List remembered decisions, and undo one",
            touches=("settings",),
        ),
        Command(
            "bug",
            handler=_write_bug_report,
            description="Write a bug report to a file, without sending it: /bug [TEXT]",
            touches=("files",),
        ),
    ]


@hookimpl
def register_permissions() -> Sequence[PermissionStore]:
    """Add what pi itself remembers."""
    from pi_cli.permissions import ApprovedPackages, TrustedFolders

    return [TrustedFolders(), ApprovedPackages()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the settings that all front ends at a terminal have."""
    from pi_terminal_kit.settings import SETTINGS

    return SETTINGS


async def _write_bug_report(args: str, ctx: PiContext) -> None:
    from pi_cli.bug_report import write_report

    await write_report(args, ctx)


async def _show_permissions(args: str, ctx: PiContext) -> None:
    from pi_cli.permissions import show_permissions

    await show_permissions(args, ctx)


async def _print(session: Any, options: Any) -> int:
    from pi_cli.print_mode import run_print

    return await run_print(session, options)


async def _line(session: Any, options: Any) -> int:
    from pi_cli.line.run import run_line

    return await run_line(session, options)


async def _json(session: Any, options: Any) -> int:
    from pi_cli.json_mode import run_json

    return await run_json(session, options)


def _attach_lines(arguments: list[str], host: Any) -> int:
    from pi_cli.line.attached import attach_lines

    return attach_lines(arguments, host)


def _auth(arguments: list[str], host: Any) -> int:
    from pi_cli.auth_command import run_auth

    return run_auth(arguments, host)


def _plugins(arguments: list[str], host: Any) -> int:
    from pi_cli.plugins_command import run_plugins

    return run_plugins(arguments, host)


def _plugin(arguments: list[str], host: Any) -> int:
    from pi_cli.plugin_new import run_plugin

    return run_plugin(arguments, host)


def _completion(arguments: list[str], _host: Any) -> int:
    from pi_cli.completion import run_completion

    return run_completion(arguments)


def _config(arguments: list[str], host: Any) -> int:
    from pi_cli.config_command import run_config

    return run_config(arguments, host)


def _trust(arguments: list[str], host: Any) -> int:
    from pi_cli.trust_command import run_trust

    return run_trust(arguments, host)


def _permissions(arguments: list[str], host: Any) -> int:
    from pi_cli.permissions import run_permissions

    return run_permissions(arguments, host)


def _hooks(arguments: list[str], host: Any) -> int:
    from pi_cli.hooks_command import run_hooks

    return run_hooks(arguments, host)


def _prompt(arguments: list[str], host: Any) -> int:
    from pi_cli.prompt_command import run_prompt

    return run_prompt(arguments, host)


def _resources(arguments: list[str], host: Any) -> int:
    from pi_cli.resources_command import run_resources

    return run_resources(arguments, host)
