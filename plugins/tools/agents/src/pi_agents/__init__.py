"""Agents: the model delegates tasks to child sessions with the tool ``task``, which is offered if agent files exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, PiAPI, PluginSetting, ProjectFile, ResourceKind, Subcommand

__all__ = [
    "activate",
    "pi_when",
    "register_commands",
    "register_project_files",
    "register_resource_kinds",
    "register_settings",
    "register_subcommands",
]

pi_when = {"files": ["agents", "./.claude/agents", "~/.claude/agents"], "settings": ["agents.enabled"]}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Offer the tools as soon as it is known whether there are agents."""
    from pi_agents.offer import Offer

    Offer(pi).listen()


@hookimpl
def register_resource_kinds() -> list[ResourceKind]:
    """Register agent files as a kind of resource."""
    from pi_agents.kind import agent_kind

    return [agent_kind()]


@hookimpl
def register_project_files() -> list[ProjectFile]:
    """Name the folder of agent files that other agents use, too."""
    from pi_hookspecs import ProjectFile

    return [ProjectFile(".claude/agents")]


@hookimpl
def register_commands() -> list[Command]:
    """Register ``/agents`` for sessions without agents; sessions with agents register their own command."""
    from pi_hookspecs import Command

    def explain(_args: str, ctx: object) -> None:
        from pi_agents.commands import explain_none

        explain_none(ctx)

    return [
        Command(
            "agents",
            handler=explain,
            description="List agents, inspect or stop them, apply their changes",
            touches=("files", "programs"),
        )
    ]


@hookimpl
def register_subcommands() -> list[Subcommand]:
    """Register ``pi agents``."""
    from pi_hookspecs import Subcommand

    def run(arguments: list[str], host: object) -> int:
        from pi_agents.subcommand import run_subcommand

        return run_subcommand(arguments, host)

    return [Subcommand("agents", run=run, description="List, check and create agent files; apply or drop worktrees")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``agents.*``."""
    from pi_agents.settings import SETTINGS

    return SETTINGS
