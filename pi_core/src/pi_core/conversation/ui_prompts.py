"""Calls ``ui_prompt_start`` and ``ui_prompt_end`` around the plugins' dialogs, which do not wait for these hooks."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import Context
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pi_hookspecs import UIPromptKind

__all__ = ["UIPrompts"]


class UIPrompts:
    """Counts the open dialogs of a session; while any dialog is open, further dialogs are not reported.

    Args:
        listens: Returns whether a plugin implements the hook of a name.
        notify: Calls the hook of an event.
    """

    def __init__(self, listens: Callable[[str], bool], notify: Callable[[Any], Awaitable[None]]) -> None:
        self._listens = listens
        self._notify = notify
        self._open = 0
        self._first: tuple[UIPromptKind, str | None]
        self._reports: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None

    @contextmanager
    def opened(self, kind: UIPromptKind, title: str | None) -> Iterator[None]:
        """Report a dialog that is open while the block runs, unless another dialog was already open."""
        self._open += 1
        if self._open == 1:
            self._first = kind, title
            self._report("ui_prompt_start")
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._report("ui_prompt_end")

    def end(self) -> None:
        """Stop reporting dialogs, because the session ends."""
        for each in self._reports:
            each.cancel()

    def _report(self, hook: str) -> None:
        if not self._listens(hook):
            return
        from pi_hookspecs import UIPromptEndEvent, UIPromptStartEvent

        kind, title = self._first
        event = (UIPromptStartEvent if hook == "ui_prompt_start" else UIPromptEndEvent)(kind=kind, title=title)
        # An empty context: the hooks are not called by the plugin that opened the dialog, nor within its deadline.
        self._last = asyncio.get_running_loop().create_task(self._send(event, self._last), context=Context())
        self._reports.add(self._last)
        self._last.add_done_callback(self._reports.discard)

    async def _send(self, event: Any, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            await asyncio.wait((before,))
        await self._notify(event)
