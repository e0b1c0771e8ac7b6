"""Prints above the input line at the bottom: whole rows scroll up, an unfinished row is drawn with the line.

Nothing else writes to the terminal meanwhile, so that output and typing cannot mix.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_terminal_kit.streams import StandIn

if TYPE_CHECKING:
    import asyncio
    from typing import TextIO

    from prompt_toolkit.application import Application

    from pi_cli.line.terminal import LineInput, LineOutput

__all__ = ["Above"]

_FRAME_SECONDS = 0.03
"""How long text is collected before the line is redrawn."""

_LENT_SECONDS = 0.2
"""How often to check whether another program has returned the terminal."""


class Above(StandIn):
    """A stream whose rows go above the line.

    Args:
        stream: The terminal.
        input: The line's input, which knows when another program uses the terminal.
        output: Draws the line.
        loop: The loop that the line runs in.

    Attributes:
        row: The unfinished row, as drawn: text leaves it only when its rows scroll up.
        output: The argument of the constructor.
    """

    def __init__(
        self,
        stream: TextIO,
        input: LineInput,  # noqa: A002 - the library's name for it
        output: LineOutput,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.row = ""
        self._growing = ""
        super().__init__(stream)
        self._input = input
        self.output = output
        self._loop = loop
        self._apps: list[Application[Any]] = []
        self._rows: list[str] = []
        self._due: asyncio.TimerHandle | None = None

    def write(self, text: str) -> int:
        """Write text."""
        rows, end, row = text.rpartition("\n")
        if end:
            self._rows.append(f"{self._growing}{rows}\n")
            self._growing = row
        else:
            self._growing += row
        if self._due is None:
            self._due = self._loop.call_later(_FRAME_SECONDS if self._apps else 0, self._show)
        return len(text)

    def begin(self, app: Application[Any]) -> None:
        """Start writing above this line, before it is first drawn; flush earlier text."""
        rows, self._rows = "".join(self._rows), []
        with suppress(OSError):  # as in _show
            self._stream.write(rows)
            self._stream.flush()
        self._apps.append(app)

    def end(self, app: Application[Any]) -> None:
        """Return to writing above the previous line, or without one."""
        self._apps.remove(app)

    def close(self) -> None:
        """Flush pending text."""
        if self._due is not None:
            self._due.cancel()
        if self._growing:
            self.write("\n")
        self._apps.clear()
        self._show()

    def _show(self) -> None:
        self._due = None
        app = self._apps[-1] if self._apps else None
        if self._input.lent or (app is not None and not app.is_running):
            later = _LENT_SECONDS if self._input.lent else _FRAME_SECONDS
            self._due = self._loop.call_later(later, self._show)
            return
        rows, self._rows = "".join(self._rows), []
        self.row = self._growing
        with suppress(OSError):  # the terminal is gone; its keys end, too
            if app is None:
                self._stream.write(rows)
                self._stream.flush()
            elif rows:
                with self.output.in_one_piece():
                    app.renderer.erase()
                    self.output.write_raw(rows)
                    _draw(app)
            else:
                app.invalidate()


def _draw(app: Application[Any]) -> None:
    """Draw a line now; ``invalidate`` would leave the terminal without one until the loop comes to it."""
    if app.context is not None:  # filters of the library ask which line is the present one
        app.render_counter += 1  # what was drawn before is kept under this number
        app.context.copy().run(app.renderer.render, app, app.layout)
