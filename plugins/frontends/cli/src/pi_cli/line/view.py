"""The rows above the line: plugins' widgets, output of running tools, queued messages, and the status."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING

from pi_cli.words import one_line, shorten
from pi_core import below_home
from pi_terminal_kit.branches import branch_of
from pi_terminal_kit.words import tokens, width_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pi_cli.line.conversation import Conversation
    from pi_cli.screen import Style
    from pi_core import AgentSession

__all__ = ["ConversationView", "status_parts", "status_row"]


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
        self._parts = status_parts(self._conversation.local)
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


_GAP = " · "


def status_parts(session: AgentSession) -> list[str]:
    """Return the parts of the status, most important first."""
    model = session.model.reference if session.model is not None else "no model"
    cost = session.session_manager.stats().cost
    parts = [
        model,
        f"thinking {session.thinking_level}",
        _fullness(session),
        f"${cost:.3f}" if cost < 1 else f"${cost:,.2f}",
        _place(session.cwd),
        session.session_name or "",
    ]
    return [one_line(part) for part in parts if part]


def _fullness(session: AgentSession) -> str:
    """Return ``3% of 200k``."""
    usage = session.get_context_usage()
    if usage is None or not usage.context_window:
        return ""
    percent = 0 if not session.messages else usage.percent
    return f"{'?' if percent is None else round(percent)}% of {tokens(usage.context_window)}"


def status_row(parts: list[str], width: int) -> str:
    """Join the parts in a row; parts that do not fit are left out, the last ones first."""
    fitting = [*parts]
    while len(fitting) > 1 and width_of(_GAP.join(fitting)) > width:
        fitting.pop()
    return shorten(_GAP.join(fitting), width)


def _place(folder: Path) -> str:
    """Return ``~/tide (main)``."""
    path = below_home(os.fspath(folder))
    branch = branch_of(folder)
    return f"{path} ({branch})" if branch else path
