"""Signals that end pi: what is being done is stopped, the session is kept, and the terminal is given back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_core.base.process.signals import OrderlyEnd

if TYPE_CHECKING:
    from pi_tui.screen.app import ScreenApp

__all__ = ["orderly_end"]


def orderly_end(app: ScreenApp) -> OrderlyEnd:
    """Return a context in which the first signal ends the application in good order, and a second one at once."""

    def abort() -> bool:
        app.leave()
        return app.is_talking

    return OrderlyEnd(abort)
