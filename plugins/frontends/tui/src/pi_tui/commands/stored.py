"""Reads the stored sessions while their list is open, and renames and deletes sessions for it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pi_hookspecs import PiError
from pi_tui.selectors.sessions import ScopeWanted, SessionDeleted, SessionRenamed, TextWanted

if TYPE_CHECKING:
    from pi_tui.screen.talk import Talk
    from pi_tui.selectors.selector import Outcome
    from pi_tui.selectors.session_rows import SessionRow
    from pi_tui.selectors.sessions import SessionSelector

__all__ = ["StoredSessions"]

_FRAME = 0.1
"""Least seconds between two drawings of the progress."""


class _ListClosed(Exception):
    """Stops reading thousands of sessions after their list was closed."""


class StoredSessions:
    """The stored sessions behind a list.

    Args:
        talk: The conversation.
        selector: The list.
    """

    def __init__(self, talk: Talk, selector: SessionSelector) -> None:
        self._talk, self._selector = talk, selector
        self._rows: list[SessionRow] = []

    async def read(self) -> None:
        """Read the sessions of the list's scope in a thread, and display them."""
        talk, selector = self._talk, self._selector
        loop = asyncio.get_running_loop()
        drawn, is_closed = time.monotonic(), False

        def draw(done: int, total: int) -> None:
            selector.show_progress(done, total)
            talk.screen.draw_dialog()

        def progress(done: int, total: int) -> None:
            nonlocal drawn
            if is_closed:
                raise _ListClosed
            if time.monotonic() - drawn > _FRAME:
                drawn = time.monotonic()
                loop.call_soon_threadsafe(draw, done, total)

        try:
            self._rows = await asyncio.to_thread(
                talk.lists.read_sessions,
                talk.session_dir,
                everywhere=selector.everywhere,
                texts=selector.wants_text,
                progress=progress,
            )
        finally:
            is_closed = True
        selector.take(self._rows)

    async def carry_out(self, outcome: Outcome) -> None:
        """Carry out an outcome of the list; errors are displayed in the list."""
        try:
            if isinstance(outcome, TextWanted | ScopeWanted):
                await self.read()
            elif isinstance(outcome, SessionRenamed):
                await self._talk.lists.rename_session(outcome.path, outcome.name)
                await self.read()
            elif isinstance(outcome, SessionDeleted):
                await self._talk.lists.delete_session(outcome.path)
                self._rows = [row for row in self._rows if row.path != outcome.path]
                self._selector.take(self._rows)
        except PiError as error:
            self._selector.problem = str(error)
