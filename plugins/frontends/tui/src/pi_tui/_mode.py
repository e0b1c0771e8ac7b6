"""The mode ``fullscreen``: takes the terminal before there is a session, then runs the application on it."""

from __future__ import annotations

import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, cast

from pi_hookspecs import Mode, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from pi_hookspecs import SettingsView, StartFacts
    from pi_tui._printed import Printed
    from pi_tui._terminal import Terminal

__all__ = ["FullScreen"]


class FullScreen:
    """A run of the mode, from the first frame to the end."""

    def __init__(self) -> None:
        self._terminal: Terminal | None = None
        self._printed: Printed | None = None

    def mode(self) -> Mode:
        """Return the mode that does this."""
        return Mode(
            "fullscreen",
            run=self.run,
            prepare=self.prepare,
            interactive=True,
            needs_tty=True,
            priority=0,  # that of the line mode, which is registered before; one of a plugin wins
            asks_for_session=True,
            description="Talk on the whole screen of a terminal",
        )

    @contextmanager
    def prepare(self, facts: StartFacts) -> Iterator[None]:
        """Have the terminal, with a first frame on it; what is printed meanwhile is kept until it can be displayed.

        Raises:
            UserError: The terminal cannot display it.
        """
        from pi_tui._printed import Printed
        from pi_tui._terminal import Terminal

        terminal = Terminal(facts.environ)
        terminal.check()
        from pi_tui._first_frame import early_drawing, first_frame

        width, height = terminal.size
        terminal.take(first_frame(facts, width, height))
        draw = early_drawing(facts, width, height)
        terminal.read_early(width, lambda text: terminal.write(draw(text)))
        printed = Printed()
        self._terminal, self._printed = terminal, printed
        stream = cast("TextIO", printed.stream)
        try:
            with redirect_stdout(stream), redirect_stderr(stream):
                yield
        finally:
            terminal.restore()
            self._terminal = self._printed = None
            printed.end(sys.__stderr__)

    async def run_attached(self, command: Sequence[str], settings: SettingsView) -> int:
        """Run the application for a session of another program until the user ends it."""
        from pi_tui._attached import run_attached

        return await run_attached(command, settings, *self._prepared())

    def _prepared(self) -> tuple[Terminal, Printed]:
        if self._terminal is None or self._printed is None:
            raise UserError("The mode 'fullscreen' was run without having been prepared")
        return self._terminal, self._printed

    async def run(self, session: Any, options: Any) -> int:
        """Run the application until the user ends it."""
        from pi_tui._run import run_screen

        return await run_screen(session, options, *self._prepared())
