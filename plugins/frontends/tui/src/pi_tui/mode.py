"""The mode ``fullscreen``: takes over the terminal before there is a session, then runs the application on it."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, cast

from pi_hookspecs import Mode, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from pi_hookspecs import SettingsView, StartFacts
    from pi_tui.attached import Other
    from pi_tui.printed import Printed
    from pi_tui.terminal import Terminal

__all__ = ["FullScreen"]


class FullScreen:
    """A run of the mode, from the first frame to the end."""

    def __init__(self) -> None:
        self._terminal: Terminal | None = None
        self._printed: Printed | None = None

    def mode(self) -> Mode:
        """Return the mode, which uses this object."""
        return Mode(
            "fullscreen",
            run=self.run,
            prepare=self.prepare,
            interactive=True,
            needs_tty=True,
            priority=0,  # equal to the line mode, which loses because it is registered earlier; plugins can exceed it
            asks_for_session=True,
            runs_without_model=True,
            description="Talk on the whole screen of a terminal",
        )

    @contextmanager
    def prepare(self, facts: StartFacts) -> Iterator[None]:
        """Take over the terminal and draw a first frame; keep printed output until it can be displayed.

        Raises:
            UserError: The terminal cannot display the screen.
        """
        from pi_tui.terminal import Terminal

        terminal = Terminal(facts.environ)
        terminal.check()
        from pi_tui.first_frame import early_drawing, first_frame

        width, height = terminal.size
        terminal.take(first_frame(facts, width, height))
        draw = early_drawing(facts, width, height)
        terminal.read_early(width, lambda text: terminal.write(draw(text)))
        from pi_core.host.owners import code_owners
        from pi_tui.printed import Printed

        printed = Printed(code_owners.get())
        terminal.reserve(printed.stray)
        self._terminal, self._printed = terminal, printed
        stream = cast("TextIO", printed.stream)
        try:
            with redirect_stdout(stream), redirect_stderr(stream):
                yield
        finally:
            terminal.restore()
            terminal.release()
            self._terminal = self._printed = None
            printed.end(sys.__stderr__)

    async def run_attached(self, other: Other, settings: SettingsView) -> int:
        """Run the application for a session of another program until the user quits."""
        from pi_tui.attached import run_attached

        return await run_attached(other, settings, *self._prepared())

    def _prepared(self) -> tuple[Terminal, Printed]:
        if self._terminal is None or self._printed is None:
            raise UserError("The mode 'fullscreen' was run without having been prepared")
        return self._terminal, self._printed

    async def run(self, session: Any, options: Any) -> int:
        """Run the application until the user quits."""
        from pi_tui.run import run_screen

        return await run_screen(session, options, *self._prepared())
