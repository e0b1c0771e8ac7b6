"""Signals that end pi: current work is stopped, the session is kept, and the terminal is restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.base.process.signals import OrderlyEnd

if TYPE_CHECKING:
    from pi_tui.screen.app import ScreenApp

__all__ = ["orderly_end"]


def orderly_end(app: ScreenApp) -> OrderlyEnd:
    """Return a context in which a first signal ends the application in an orderly way, and a second one immediately."""

    def abort() -> bool:
        app.leave()
        return app.is_talking

    return OrderlyEnd(abort)
