"""The full-screen front end: ``pi`` at a terminal. Only the hook is here; all else is imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_hookspecs import hookimpl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Mode

__all__ = ["register_modes"]


@hookimpl
def register_modes() -> Sequence[Mode]:
    """Add the mode ``fullscreen``, which ``pi`` starts at a terminal."""
    from pi_tui._mode import FullScreen

    return [FullScreen().mode()]
