"""What one plugin in a process renders for the conversation and completes in the editor."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from pi_core.hooks.acting import acting
from pi_hookspecs import PiError
from pi_isolated.registering import completion_of
from pi_isolated.renderings import Renderings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pi_hookspecs import Completion, PiContext
    from pi_isolated.plugin import Member

__all__ = ["Drawing"]

_INPUT_SECONDS = 0.9
"""Seconds in which a program answers to what was typed; it is read unchanged after that."""


class Drawing:
    """What one plugin draws on request.

    Args:
        member: The plugin.

    Attributes:
        renderings: What it renders.
    """

    def __init__(self, member: Member) -> None:
        self._member = member
        self._typed: dict[int, asyncio.Future[str]] = {}
        self._numbers = count(1)
        self._removes: dict[str, Callable[[], None]] = {}
        self._is_redrawn = False
        self.renderings = Renderings(self._render, self._redraw, self._report)

    def take(self, message: Mapping[str, Any]) -> None:
        """Take a message of the program."""
        op = message.get("op")
        if op == "invalidate":
            call_id = message.get("callId")
            self.renderings.invalidate(call_id if isinstance(call_id, str) else None)
        elif op == "terminal" and "id" in message:
            waiting = self._typed.pop(message["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(str(message.get("data", "")))
        else:
            self._add(str(op), bool(message.get("off")))

    # Rows

    async def _render(self, request: Mapping[str, Any]) -> Any:
        ctx = self._session()
        if ctx is None:
            return None
        with acting(self._member.name):
            return await self._member.request(request, ctx)

    def _session(self) -> PiContext | None:
        """Return the latest context: rows of the past are rendered before the plugin is asked anything else."""
        return self._member.process_of_session().latest_context(self._member) or self._member.ctx

    def _redraw(self) -> None:
        """Draw again soon; several changes in a row do so once."""
        if not self._is_redrawn:
            self._is_redrawn = True
            asyncio.get_running_loop().call_later(0.02, self._redraw_now)

    def _redraw_now(self) -> None:
        self._is_redrawn = False
        ctx = self._session()
        if ctx is not None:
            with acting(self._member.name), suppress(PiError):
                ctx.ui.redraw()

    def _report(self, text: str) -> None:
        ctx = self._session()
        cleaned = ctx.secrets.clean(text) if ctx is not None else text
        self._member.process_of_session().note(f"{self._member.name}: {cleaned}")

    # The editor

    def _add(self, what: str, off: bool) -> None:  # noqa: FBT001 - what a message says
        remove = self._removes.pop(what, None)
        if remove is not None:
            remove()
        ctx = self._session()
        if off or ctx is None:
            return
        with acting(self._member.name):
            if what == "completions":
                self._removes[what] = ctx.ui.add_autocomplete_provider(self._complete)
            else:
                self._removes[what] = ctx.ui.on_terminal_input(self._filter)

    async def _complete(self, text: str, cursor: int) -> list[Completion]:
        """Return what the program would put in place of the word before the cursor, or of another part."""
        ctx = self._session()
        if ctx is None:
            return []
        before = text[:cursor].split("\n")
        request = {"type": "complete", "lines": text.split("\n"), "line": len(before) - 1, "column": len(before[-1])}
        answer = await self._member.request(request, ctx)
        return [completion_of(each) for each in answer or ()]

    async def _filter(self, text: str) -> bool | str:
        """Return what the program leaves of what was typed; True for nothing."""
        running = self._member.process_of_session()
        if running.process is None or running.process.failure is not None:
            return text
        number = next(self._numbers)
        self._typed[number] = asyncio.get_running_loop().create_future()
        message = {"type": "surface", "op": "terminal", "id": number, "data": text}
        running.process.send({**message, "plugin": self._member.name} if running.is_shared else message)
        try:
            return await asyncio.wait_for(self._typed[number], _INPUT_SECONDS) or True
        except TimeoutError:
            self._typed.pop(number, None)
            return text
