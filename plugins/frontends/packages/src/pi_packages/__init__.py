"""Adds ``pi install``, ``remove``, ``update``, ``list``, ``sync``, ``doctor``, ``search`` and ``info``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pi_hookspecs import Subcommand, hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import PiAPI, PluginSetting

__all__ = ["WRITTEN_BY_THE_ORIGINAL", "activate", "pi_when", "register_settings", "register_subcommands"]

WRITTEN_BY_THE_ORIGINAL = ("lastChangelogVersion", "deviceId", "trackingId", "extensionChangelogVersions")
"""Settings that the original pi writes for itself: who has one has used it."""

pi_when = {"settings": ["packages.updateModels", *WRITTEN_BY_THE_ORIGINAL]}

_COMMANDS = {
    "install": "Install plugins, and packages of skills, prompts and themes",
    "remove": "Remove installed packages",
    "uninstall": "The same as remove",
    "update": "Update installed packages, pi itself, or what it knows of models",
    "list": "List installed packages",
    "sync": "Install exactly what the lock file says",
    "doctor": "Check the installation, and suggest repairs",
    "search": "Search the catalogue of packages",
    "info": "Describe a package",
}


@hookimpl
def activate(pi: PiAPI) -> None:
    """Fetch what is known of models once a day, and say what of the original's files has no effect.

    Sessions import this plugin only for a user who has turned the former on, or has files of the original.
    """
    from pi_packages.daily import follow_models
    from pi_packages.first_start import say_what_has_no_effect

    follow_models(pi)
    say_what_has_no_effect(pi)


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add the commands for packages."""
    return [Subcommand(name, run=partial(_run, name), description=text) for name, text in _COMMANDS.items()]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the settings of these commands."""
    from pi_packages.settings import SETTINGS

    return SETTINGS


def _run(name: str, arguments: list[str], host: Any) -> int:
    from pi_packages.commands import run

    return run(name, arguments, host)
