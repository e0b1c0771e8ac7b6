"""Calls ``ui_prompt_start`` and ``ui_prompt_end`` around dialogs of plugins; the dialogs do not wait for them."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from contextvars import Context
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from pi_hookspecs import UIPromptKind

__all__ = ["UIPrompts"]


class UIPrompts:
    """Counts the open dialogs of a session: of those that are open at the same time only the first is reported.

    Args:
        announce: Calls the hook of a name and the subscribers, with an event that is made if one of them listens.
    """

    def __init__(self, announce: Callable[[str, Callable[[], Any]], Awaitable[None]]) -> None:
        self._announce = announce
        self._open = 0
        self._reports: set[asyncio.Task[None]] = set()
        self._last: asyncio.Task[None] | None = None

    @contextmanager
    def opened(self, kind: UIPromptKind, title: str | None) -> Iterator[None]:
        """Report a dialog that is open as long as the block runs, unless another one was open before."""
        from pi_hookspecs import UIPromptEndEvent, UIPromptStartEvent

        self._open += 1
        is_first = self._open == 1
        if is_first:
            self._first = partial(UIPromptEndEvent, kind=kind, title=title)
            self._report("ui_prompt_start", partial(UIPromptStartEvent, kind=kind, title=title))
        try:
            yield
        finally:
            self._open -= 1
            if not self._open:
                self._report("ui_prompt_end", self._first)

    def end(self) -> None:
        """Stop reporting: the session ends."""
        for each in self._reports:
            each.cancel()

    def _report(self, kind: str, make: Callable[[], Any]) -> None:
        # An empty context: the hooks are not called by the plugin that opened the dialog, nor within its deadline.
        self._last = asyncio.get_running_loop().create_task(self._send(kind, make, self._last), context=Context())
        self._reports.add(self._last)
        self._last.add_done_callback(self._reports.discard)

    async def _send(self, kind: str, make: Callable[[], Any], before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            await asyncio.wait((before,))
        await self._announce(kind, make)
