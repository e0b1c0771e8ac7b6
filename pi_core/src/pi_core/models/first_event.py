"""Names the plugin whose provider is waited for, if the first event of its answer takes long."""

from __future__ import annotations

import asyncio
from functools import wraps
from typing import TYPE_CHECKING, Any

from pi_core.hooks.loop_watch import show_waiting_for

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pi_hookspecs import AssistantMessageEvent, Context, Model, StreamFunction, StreamOptions

__all__ = ["WAITING_SECONDS", "named_while_waiting"]

WAITING_SECONDS = 15.0
"""Time until it is named: models think, so it is longer than for hooks. It has no deadline; an abort ends it."""


def named_while_waiting(stream: StreamFunction, plugin: str) -> StreamFunction:
    """Return a stream function that names the plugin while nothing has come of an answer."""

    @wraps(stream)
    def named(model: Model, context: Context, options: StreamOptions) -> Any:
        events = stream(model, context, options)
        return _Named(events, f"provider {model.provider!r} of plugin {plugin!r}") if _is_iterator(events) else events

    return named


def _is_iterator(events: object) -> bool:
    return hasattr(events, "__anext__") and hasattr(events, "aclose")


class _Named:
    """The events of an answer. All but the first are the provider's own, so that an event costs one call more."""

    def __init__(self, events: Any, what: str) -> None:
        self._events = events
        self._what = what
        self._has_begun = False

    def __aiter__(self) -> _Named:
        return self

    def __anext__(self) -> Awaitable[AssistantMessageEvent]:
        if self._has_begun:
            return self._events.__anext__()  # type: ignore[no-any-return]
        self._has_begun = True
        return self._first()

    async def _first(self) -> AssistantMessageEvent:
        is_shown = False

        def show() -> None:
            nonlocal is_shown
            is_shown = True
            show_waiting_for(self._what)

        timer = asyncio.get_running_loop().call_later(WAITING_SECONDS, show)
        try:
            event: AssistantMessageEvent = await self._events.__anext__()
            return event
        finally:
            timer.cancel()
            if is_shown:
                show_waiting_for("")

    async def aclose(self) -> None:
        """Close the provider's stream."""
        await self._events.aclose()
