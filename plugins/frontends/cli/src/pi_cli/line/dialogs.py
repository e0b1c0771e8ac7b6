"""Plugins' dialogs on lines of their own, without history, and their statuses and widgets."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from pi_cli.report import say
from pi_cli.terminal_ui import TerminalUI
from pi_cli.words import one_line, plain_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_cli.line.typed import Line
    from pi_hookspecs import NoticeLevel, WidgetPlacement

__all__ = ["LineUI"]

_MOST_ROWS = 5
"""Maximum rows of a widget, so that the line stays on the screen."""


class LineUI(TerminalUI):
    """Implements ``UserInterface`` on a line.

    Args:
        line: Where the conversation is typed, if there is one.
        browser: Whether pages may be opened.

    Attributes:
        statuses: Texts of plugins for the status, by their keys.
        widgets: Rows of plugins, by their keys.
    """

    def __init__(self, line: Line | None = None, *, browser: bool = False) -> None:
        super().__init__(browser=browser)
        if line is None:
            from pi_cli.line.plain import Around, PlainLine

            line = PlainLine(None, Around(sys.stdout))
        self._line = line
        self.statuses: dict[str, str] = {}
        self.widgets: dict[str, list[str]] = {}

    def notify(self, message: str, level: NoticeLevel = "info") -> None:
        """Write a notice; what is being typed stays below it."""
        say(*self.notice(message, level).split("\n"))

    def set_status(self, key: str, text: str | None = None) -> None:
        """Show a text in the status next to the line."""
        if text is None:
            self.statuses.pop(key, None)
        else:
            self.statuses[key] = one_line(text)

    def set_widget(
        self, key: str, lines: Sequence[str] | None = None, *, placement: WidgetPlacement | None = None
    ) -> None:
        """Show rows above the line, whatever their placement; print changes if the terminal has no such rows."""
        rows = [plain_row(each) for each in (lines or ())[:_MOST_ROWS]]
        if rows == self.widgets.get(key, []):
            return
        self.widgets[key] = rows
        if not rows:
            del self.widgets[key]
        if self._line.held:
            self._line.draw()
        elif rows:
            say(*rows)

    def set_editor_text(self, text: str) -> None:
        """Replace the text on the line."""
        self._line.put(text)

    async def editor(self, title: str, prefill: str = "") -> str | None:
        """Let the user edit a text on a separate line."""
        return await self._line.ask(f"{one_line(title)}: ", draft=prefill)

    async def ask_secret(self, question: str) -> str | None:
        """Ask for a line without echo; return None if dismissed."""
        return await self._line.ask(question, secret=True)

    async def _answer(self, question: str) -> str | None:
        try:
            return await self._line.ask(question)
        except asyncio.CancelledError:
            say(question)  # the line is erased with it; keep a dismissed question visible
            raise
