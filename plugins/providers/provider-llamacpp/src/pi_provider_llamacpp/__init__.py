"""Local models: the user's own GGUF files, run by llama.cpp in a process of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Command, PluginSetting, Provider, ProviderInfo, Subcommand

__all__ = ["register_commands", "register_models", "register_providers", "register_settings", "register_subcommands"]


@hookimpl
def register_providers() -> Sequence[Provider]:
    """Implement the API id ``llamacpp-embedded``."""
    from pi_provider_llamacpp.provider import LlamaCpp

    return [LlamaCpp()]


@hookimpl
def register_models() -> Sequence[ProviderInfo]:
    """Add the provider ``llamacpp``; its models are looked for when they are listed or named."""
    from pi_provider_llamacpp.provider import provider_row

    return [provider_row()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``llamacpp.*``."""
    from pi_provider_llamacpp.options import SETTINGS

    return SETTINGS


@hookimpl
def register_commands() -> Sequence[Command]:
    """Provide ``/llama``."""
    from pi_hookspecs import Command
    from pi_provider_llamacpp.command import complete, run_command

    return [
        Command(
            "llama",
            handler=run_command,
            description="List, load, unload, download and delete local models",
            complete=complete,
            touches=("files", "network"),
        )
    ]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Provide ``pi models``."""
    from pi_hookspecs import Subcommand

    return [Subcommand("models", run=_run, description="List, download and delete local models (GGUF files)")]


def _run(arguments: list[str], host: Any) -> int:
    from pi_provider_llamacpp.subcommand import run_subcommand

    return run_subcommand(arguments, host)
