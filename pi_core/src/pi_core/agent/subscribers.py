"""Subscriptions to events: listeners are called in the order of subscription, each awaited before the next."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_hookspecs import AbortSignal, MessageUpdateEvent

__all__ = ["Listener", "Subscribers"]

Listener: TypeAlias = "Callable[..., Awaitable[None] | None]"
"""A function that is called with the event, or with the event and the run's abort signal; may be ``async``.

A return value that cannot be awaited is ignored, because a lambda always returns the value of its expression.
"""


class Subscribers:
    """The listeners of an agent or of a session.

    Attributes:
        listeners: The functions to call with each event and the run's abort signal; read directly by code that emits
            thousands of events.
    """

    def __init__(self) -> None:
        self.listeners: tuple[Callable[[Any, AbortSignal | None], Awaitable[None] | None], ...] = ()
        self._of_deltas: dict[str, tuple[Callable[[Any, AbortSignal | None], Awaitable[None] | None], ...]] = {}
        """Type of an answer's stream event to the functions for its ``message_update``, as far as it has occurred."""
        self._types: dict[Callable[..., object], tuple[frozenset[str], Callable[..., Any]]] = {}
        """Function to the types that it is called for, all if there are none, and the function for any event."""
        self._unsettled: set[asyncio.Future[None]] = set()

    def add(self, listener: Listener, types: frozenset[str] = frozenset()) -> Callable[[], None]:
        """Subscribe a listener to all events, or to events of some types; return a function that unsubscribes it."""
        if not callable(listener):
            raise TypeError(f"A listener must be a function that takes an event, not {listener!r:.200}")
        plain: Listener = partial(listener) if _takes_signal(listener) else lambda event, _signal: listener(event)
        call = _of_types(plain, types) if types else plain
        self.listeners = (*self.listeners, call)
        self._types[call] = types, plain
        self._of_deltas.clear()

        def remove() -> None:
            self.listeners = tuple(each for each in self.listeners if each is not call)
            self._types.pop(call, None)
            self._of_deltas.clear()

        return remove

    def listens(self, kind: str) -> bool:
        """Whether any listener is subscribed to events of this type; check this before building a rare event."""
        return any(not types or kind in types for types, _call in self._types.values())

    def emit(self, event: Any, signal: AbortSignal | None) -> Awaitable[None]:
        """Call every listener; the first exception is raised, and the remaining listeners are not called."""
        return _call_all(self.listeners, event, signal)

    def emit_delta(self, event: MessageUpdateEvent, signal: AbortSignal | None) -> Awaitable[None] | None:
        """As ``emit`` for a ``message_update``; None if no listener is subscribed to it, as there are thousands."""
        kind = event.assistant_message_event.type
        listeners = self._of_deltas.get(kind)
        if listeners is None:
            wanted = {"message_update", kind}
            found = ((types, call) for types, call in self._types.values() if not types or types & wanted)
            listeners = self._of_deltas[kind] = tuple(call for _types, call in found)
        return _call_all(listeners, event, signal) if listeners else None

    async def emit_despite_errors(self, event: Any, signal: AbortSignal | None) -> None:
        """Call every listener and ignore exceptions; used at the end of a run that a listener may have made fail."""
        for listener in self.listeners:
            with suppress(Exception):
                waiting = listener(event, signal)
                if waiting is not None and hasattr(waiting, "__await__"):
                    await waiting

    def emit_nowait(self, event: Any) -> None:
        """Call every listener from code that is not ``async``; ``settled`` waits for the asynchronous ones."""
        for listener in self.listeners:
            with suppress(Exception):  # failures are reported by such events themselves
                waiting = listener(event, None)
                if waiting is not None and hasattr(waiting, "__await__"):
                    future = asyncio.ensure_future(waiting)
                    self._unsettled.add(future)
                    future.add_done_callback(self._discard)

    async def settled(self) -> None:
        """Return when every asynchronous listener that ``emit_nowait`` called has ended."""
        while self._unsettled:
            await asyncio.wait(self._unsettled)

    def _discard(self, future: asyncio.Future[None]) -> None:
        self._unsettled.discard(future)
        if not future.cancelled():
            future.exception()  # retrieved and ignored, as in ``emit_nowait``


async def _call_all(
    listeners: tuple[Callable[[Any, AbortSignal | None], Awaitable[None] | None], ...],
    event: Any,
    signal: AbortSignal | None,
) -> None:
    for listener in listeners:
        waiting = listener(event, signal)
        if waiting is not None and hasattr(waiting, "__await__"):
            await waiting


def _of_types(listener: Listener, types: frozenset[str]) -> Listener:
    """Return a listener that is only called for events, or for stream events of an answer, of these types."""

    def on_event(event: Any, signal: AbortSignal | None) -> Awaitable[None] | None:
        inner = getattr(event, "assistant_message_event", None)
        if event.type in types or (inner is not None and inner.type in types):
            return listener(event, signal)
        return None

    return on_event


def _takes_signal(listener: Listener) -> bool:
    """Whether a listener has a second parameter for the signal, either required or with that name.

    Any other parameter with a default often binds a variable (``lambda event, log=log: ...``), so the signal is not
    passed to it.
    """
    try:
        parameters = signature(listener).parameters.values()
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    if any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        return True
    second = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)][1:2]
    return any(each.default is Parameter.empty or each.name == "signal" for each in second)
