"""Shows on the screen what blocks the event loop, which then neither draws nor reads keys."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from pi_core import clean_text, one_line

if TYPE_CHECKING:
    from pi_core.hooks.loop_watch import Block
    from pi_tui.driver import ScreenDriver
    from pi_tui.screen.app import ScreenApp
    from pi_tui.terminal import Terminal

__all__ = ["BlockedScreen"]

_EXIT_CODE = 130


class BlockedScreen:
    """A ``BlockDisplay`` for the screen: a line at the bottom, and Ctrl+C."""

    def __init__(self, app: ScreenApp, terminal: Terminal) -> None:
        self._app = app
        self._terminal = terminal
        self._loop = asyncio.get_running_loop()

    @property
    def _driver(self) -> ScreenDriver | None:
        driver: ScreenDriver | None = self._app._driver  # type: ignore[assignment]  # noqa: SLF001 - Textual's own name
        return driver if self._terminal.is_taken else None

    def show(self, block: Block, hint: str) -> None:
        """Draw one line, whatever is displayed there."""
        driver = self._driver
        if driver is not None:
            driver.write_over(one_line(clean_text(f"{hint}. {block}")))

    def interrupts(self) -> int:
        """Return how often Ctrl+C was pressed; other keys are kept for the loop."""
        driver = self._driver
        return driver.read_meanwhile() if driver is not None else 0

    def end(self) -> None:
        """Draw what the line has covered."""
        self._loop.call_soon_threadsafe(self._redraw)

    def _redraw(self) -> None:
        driver = self._driver
        if driver is not None:
            driver.forget()
            self._app.screen.refresh(layout=True)

    def show_waiting(self, text: str | None) -> None:
        """Show what is waited for in the footer, or over the first frame, which is kept while the session starts."""
        text = text and f"{text}; Escape skips it"
        driver = self._driver
        if driver is not None and self._app.is_held and text is not None:
            driver.write_over(one_line(clean_text(text)))
        elif driver is not None:
            self._app.interface.set_status("waiting", text)
            if text is None:
                self._redraw()
        elif text is not None:  # the terminal was given back already
            self._terminal.write(f"{one_line(clean_text(text))}\r\n")

    def leave(self) -> None:
        """Give the terminal back and end the process; what was stored stays."""
        self._terminal.restore()
        os._exit(_EXIT_CODE)
