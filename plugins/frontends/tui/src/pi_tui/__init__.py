"""The full-screen front end: ``pi`` at a terminal. Only the hooks are here; they import the rest when called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Mode, PluginSetting, Subcommand, Theme

__all__ = ["register_modes", "register_settings", "register_subcommands", "register_themes"]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add the mode ``fullscreen``, which ``pi`` starts at a terminal."""
    from pi_tui.mode import FullScreen

    return [FullScreen().mode()]


@hookimpl
def register_subcommands() -> Sequence[Subcommand]:
    """Add ``pi attach`` and ``pi web``."""
    from pi_hookspecs import Subcommand

    def run(arguments: list[str], host: Any) -> int:
        from pi_tui.attached import attach

        return attach(arguments, host)

    def run_web(arguments: list[str], host: Any) -> int:
        from pi_tui.web.command import web

        return web(arguments, host)

    return [
        Subcommand("attach", run=run, description="Show the session of another pi, e.g. over SSH"),
        Subcommand("web", run=run_web, description="Show the screen in a browser of this computer"),
    ]


@hookimpl
def register_settings() -> Sequence[PluginSetting]:
    """Declare the settings of the full screen, and those that all front ends at a terminal have."""
    from pi_terminal_kit.settings import SETTINGS as SHARED
    from pi_tui.declared_settings import SETTINGS

    return [*SETTINGS, *SHARED]


@hookimpl
def register_themes() -> Sequence[Theme]:
    """Add the themes ``dark``, ``light`` and ``system``."""
    from pi_tui.theme.builtin_themes import builtin_themes

    return builtin_themes()
