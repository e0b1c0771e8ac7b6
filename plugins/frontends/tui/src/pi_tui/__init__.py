"""The full-screen front end: ``pi`` at a terminal. Only the hooks are here; they import all else when called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Mode, Theme

__all__ = ["register_modes", "register_themes"]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add the mode ``fullscreen``, which ``pi`` starts at a terminal."""
    from pi_tui._mode import FullScreen

    return [FullScreen().mode()]


@hookimpl
def register_themes() -> Sequence[Theme]:
    """Add the themes ``dark``, ``light`` and ``system``."""
    from pi_tui.theme.builtin_themes import builtin_themes

    return builtin_themes()
