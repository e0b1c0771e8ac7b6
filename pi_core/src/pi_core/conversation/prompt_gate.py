"""Lets one prompt run at a time: which prompt is answered, how it is aborted, and when the next may begin."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_hookspecs import AbortController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pi_core.conversation.prompt_call import PromptCall
    from pi_hookspecs import AbortSignal

__all__ = ["PromptGate"]


class PromptGate:
    """Holds the prompt that is being answered.

    Args:
        on_abort: Called with the prompt's signal when it is aborted.
    """

    def __init__(self, on_abort: Callable[[AbortSignal], None]) -> None:
        self._on_abort = on_abort
        self._abort: AbortController | None = None
        self._task: asyncio.Task[Any] | None = None
        self.call: PromptCall | None = None
        """What a program asked of the prompt inside; None if it asked nothing, and between prompts."""
        self.trace_context: Mapping[str, str] = {}
        """``traceparent`` and ``tracestate`` that came with the prompt inside."""
        self._settled = asyncio.Event()
        self._settled.set()

    @property
    def signal(self) -> AbortSignal | None:
        """The abort signal of the prompt inside; None if the next prompt may begin."""
        return self._abort.signal if self._abort is not None else None

    @contextmanager
    def prompt(
        self, call: PromptCall | None = None, trace_context: Mapping[str, str] | None = None
    ) -> Iterator[AbortSignal]:
        """Answer a prompt inside the block; yield its abort signal."""
        mine = self._abort = AbortController()
        self.call, self.trace_context = call, trace_context or {}
        mine.signal.on_abort(lambda: self._on_abort(mine.signal))
        self._task = asyncio.current_task()
        self._settled.clear()
        try:
            yield mine.signal
        finally:
            if self._abort in (mine, None):  # a listener of agent_settled may have begun another prompt
                self._abort = self._task = self.call = None
                self.trace_context = {}
                self._settled.set()

    def free(self) -> None:
        """Let the next prompt begin, because only ``agent_settled`` remains to be emitted for the current one."""
        self._abort = None

    def abort(self, reason: str) -> None:
        """Abort the prompt inside."""
        if self._abort is not None:
            self._abort.abort(reason)

    def is_inside(self) -> bool:
        """Whether the caller runs in the task of a prompt, including a prompt that is settling."""
        return self._task is not None and asyncio.current_task() is self._task

    def is_inside_prompt(self) -> bool:
        """Whether the caller is part of the prompt that is being answered, as a hook or listener is."""
        return self._abort is not None and self.is_inside()

    async def empty(self) -> None:
        """Return when no prompt is inside; in the prompt's own task return at once, as it would wait for itself."""
        if not self.is_inside():
            await self._settled.wait()
