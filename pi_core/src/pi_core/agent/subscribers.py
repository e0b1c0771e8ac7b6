"""Who is told of events: in the order of subscription, each awaited before the next."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_hookspecs import AbortSignal

__all__ = ["Listener", "Listeners"]

Listener: TypeAlias = "Callable[..., Awaitable[None] | None]"
"""Called with the event, or with the event and the run's abort signal; may be ``async``.

A lambda returns what its last call did: what cannot be awaited is nothing.
"""


class Listeners:
    """The subscribers of an agent or of a session."""

    def __init__(self) -> None:
        self._all: tuple[Callable[[Any, AbortSignal | None], Awaitable[None] | None], ...] = ()
        self._late: set[asyncio.Future[None]] = set()

    def add(self, listener: Listener, types: frozenset[str] = frozenset()) -> Callable[[], None]:
        """Tell a listener of every event, or of those types alone; returns the way to unsubscribe."""
        if not callable(listener):
            raise TypeError(f"A listener is a function of an event, not {listener!r:.200}")
        call = partial(listener) if _takes_signal(listener) else lambda event, _signal: listener(event)
        if types:
            call = _of_types(call, types)
        self._all = (*self._all, call)

        def remove() -> None:
            self._all = tuple(each for each in self._all if each is not call)

        return remove

    async def tell(self, event: Any, signal: AbortSignal | None) -> None:
        """Tell all; what one of them raises ends the telling."""
        for listener in self._all:
            waiting = listener(event, signal)
            if waiting is not None and hasattr(waiting, "__await__"):
                await waiting

    async def tell_despite_errors(self, event: Any, signal: AbortSignal | None) -> None:
        """Tell all, whoever raises: of how a run broke that one of them may have broken."""
        for listener in self._all:
            with suppress(Exception):
                waiting = listener(event, signal)
                if waiting is not None and hasattr(waiting, "__await__"):
                    await waiting

    def tell_soon(self, event: Any) -> None:
        """Tell all from code that cannot wait; nobody waits for the asynchronous ones until ``settled``."""
        for listener in self._all:
            with suppress(Exception):  # there is nobody to tell: this is how failures are told
                waiting = listener(event, None)
                if waiting is not None and hasattr(waiting, "__await__"):
                    late = asyncio.ensure_future(waiting)
                    self._late.add(late)
                    late.add_done_callback(self._forget)

    async def settled(self) -> None:
        """Return when everybody who was told soon has dealt with it."""
        while self._late:
            await asyncio.wait(self._late)

    def _forget(self, late: asyncio.Future[None]) -> None:
        self._late.discard(late)
        if not late.cancelled():
            late.exception()  # retrieved, as in ``tell_soon``


def _of_types(listener: Listener, types: frozenset[str]) -> Listener:
    """Return a listener that hears events of these types, or stream events of these types."""

    def heard(event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        inner = getattr(event, "assistant_message_event", None)
        if event.type in types or (inner is not None and inner.type in types):
            return listener(event, signal)
        return None

    return heard


def _takes_signal(listener: Listener) -> bool:
    """Whether a listener has a second parameter for the signal: a required one, or one of that name.

    A default often binds a loop's variable (``lambda event, log=log: ...``) and is not to be replaced.
    """
    try:
        parameters = signature(listener).parameters.values()
    except (TypeError, ValueError):  # some builtins do not tell
        return False
    if any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        return True
    second = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][1:2]
    return any(each.default is Parameter.empty or each.name == "signal" for each in second)
