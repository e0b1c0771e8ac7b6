"""The rows above the line: plugins' widgets, output of running tools, queued messages, and the status."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from pi_cli.line.status import status_parts, status_row
from pi_cli.words import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pi_cli.line.conversation import Conversation
    from pi_cli.screen import Style

__all__ = ["ConversationView"]


class ConversationView:
    """Implements ``View``.

    Args:
        conversation: The conversation to display.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._parts: list[str] = []
        self._busy_since: float | None = None
        self._counting: asyncio.Task[None] | None = None

    def update(self, *, busy: bool) -> None:
        """Update the status; while pi is busy, it counts the seconds."""
        self._parts = status_parts(self._conversation.session)
        if not busy:
            self._busy_since = None
        elif self._busy_since is None:
            self._busy_since = time.monotonic()
            if self._counting is None or self._counting.done():
                self._counting = asyncio.ensure_future(self._count())

    def rows(self, width: int) -> Iterator[tuple[Style, str]]:
        """Return the rows above the line."""
        ui = self._conversation.ui
        for widget in ui.widgets.values() if ui is not None else ():
            yield from (("", shorten(row, width)) for row in widget)
        yield from self._conversation.progress_rows(width)
        yield from self._conversation.queue_rows(width)
        parts = [*self._parts, *(ui.statuses.values() if ui is not None else ())]
        if self._busy_since is not None:
            seconds = int(time.monotonic() - self._busy_since)
            parts[:0] = [f"working {seconds} s" if seconds else "working", "Escape stops"]
        if parts:
            yield "dim", status_row(parts, width)

    async def _count(self) -> None:
        while self._busy_since is not None:
            await asyncio.sleep(1)
            self._conversation.refresh()
