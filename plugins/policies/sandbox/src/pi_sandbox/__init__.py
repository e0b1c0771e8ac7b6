"""A sandbox for what the model starts and writes: bubblewrap, Landlock with seccomp, or Seatbelt. Off by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import (
        Command,
        Flag,
        PermissionStore,
        PiAPI,
        PiContext,
        PluginSetting,
        Service,
        SessionStartEvent,
        Subcommand,
    )
    from pi_sandbox.hooks import Hooks

__all__ = [
    "activate",
    "pi_when",
    "register_commands",
    "register_flags",
    "register_permissions",
    "register_services",
    "register_settings",
    "register_subcommands",
]

pi_when = {"settings": ["sandbox"], "flags": ["sandbox"]}


@hookimpl
def register_flags() -> list[Flag]:
    """Provide ``--sandbox``."""
    from pi_hookspecs import Flag

    return [Flag("sandbox", type="string", description="Sandbox for programs: auto, bwrap, landlock, seatbelt, off")]


@hookimpl
def register_services() -> list[Service]:
    """Provide the launcher, and the operations of the tools on files."""
    from pi_sandbox.services import SandboxLauncher, SandboxOperations

    return [SandboxLauncher(), SandboxOperations()]


@hookimpl
def register_commands() -> list[Command]:
    """Provide ``/sandbox``."""
    from pi_hookspecs import Command
    from pi_sandbox.status import show_status

    return [Command("sandbox", handler=show_status, description="Show what the sandbox allows", touches=())]


@hookimpl
def register_permissions() -> list[PermissionStore]:
    """Provide the folders that the user has opened."""
    from pi_sandbox.permissions import WritableFolders

    return [WritableFolders()]


@hookimpl
def register_subcommands() -> list[Subcommand]:
    """Provide ``pi sandbox``."""
    from pi_hookspecs import Subcommand
    from pi_sandbox.subcommand import run_subcommand

    return [Subcommand("sandbox", run=run_subcommand, description="Run a command in the sandbox, or test its engines")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``sandbox.*``."""
    from pi_sandbox.settings import SETTINGS

    return SETTINGS


@hookimpl
def activate(pi: PiAPI) -> None:
    """Attach to sessions that ask for a sandbox."""
    hooks: Hooks | None = None

    @pi.on("session_start")
    def start(_event: SessionStartEvent, ctx: PiContext) -> None:
        nonlocal hooks
        from pi_sandbox.asked import is_asked_for

        if hooks is None and is_asked_for(ctx):
            from pi_sandbox.hooks import Hooks

            hooks = Hooks(pi)
        if hooks is not None:
            hooks.start(ctx)
