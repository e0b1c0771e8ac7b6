"""Adds ``pi serve``: shares one session between several programs, users and screens over a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import Flag, Mode, Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PluginSetting

__all__ = ["register_flags", "register_modes", "register_settings", "register_subcommands"]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add ``--mode serve``, which ``pi serve`` runs."""
    return [Mode("serve", run=_run, description="Serve the session over a socket, as pi serve does")]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare ``serve.*``."""
    from pi_serve.settings import SETTINGS

    return SETTINGS


@hookimpl
def register_flags() -> list[Flag]:
    """Provide the options of ``--mode serve``."""
    return [
        Flag("serve-socket", type="string", description="With --mode serve: the path of the socket"),
        Flag("serve-port", type="string", description="With --mode serve: the port for browsers; 0 is any free one"),
        Flag("serve-url", type="string", description="With --mode serve: the address of a proxy for the port"),
        Flag("serve-idle", type="string", description="With --mode serve: minutes without clients before it ends"),
        Flag("serve-token-file", type="string", description="With --mode serve: the file with the token of browsers"),
    ]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi serve``."""
    return [Subcommand("serve", run=_serve, description="Serve a session to several clients, over a socket")]


async def _run(session: Any, options: Any) -> int:
    from pi_serve.mode import run_serve

    return await run_serve(session, options)


def _serve(arguments: list[str], _host: Any) -> int:
    from pi_serve.command import serve

    return serve(arguments)
