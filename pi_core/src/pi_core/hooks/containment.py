"""Awaits a plugin's coroutine in such a way that it can be abandoned: one that ignores every cancellation is.

A task waits for its coroutine for as long as that goes on, and a cancellation is only an exception raised inside it.
So once the coroutine suspends, a generator stands between the two. It passes everything on, until it is to stop.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter as clock
from types import CoroutineType, MethodType, coroutine
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["Abandoned", "Suspended", "awaiting", "clock"]


class Abandoned(BaseException):
    """Raised in place of an answer by a coroutine that is not awaited any more."""


class Call(Protocol):
    """What a call of a plugin's coroutine keeps of it.

    Attributes:
        answer: What came of it.
        resumed: When its code began to run last, by ``clock``.
        longest: Seconds of its longest step so far, from running to waiting.
    """

    answer: Any
    resumed: float
    longest: float

    def is_given_up(self) -> bool:
        """Whether the coroutine is to be abandoned; asked whenever something is raised in it, as a cancellation is."""
        ...


@coroutine
def awaiting(call: Call, awaitable: Any) -> Generator[Any, Any, None]:
    """Await what a plugin gave, and put the answer into ``call.answer``.

    Iterating over this is the first step: a loop over a generator that returns nothing ends without ``StopIteration``,
    whose making would cost what a whole call of a coroutine does.
    """
    iterable: Any = awaitable if type(awaitable) is CoroutineType else awaitable.__await__()  # the former is fast
    call.answer = yield from iterable


class Suspended:
    """A generator of ``awaiting`` that has yielded; awaiting this runs it to its end, or abandons it.

    Args:
        generator: It waits for an event of the loop.
        waits_for: What it yielded.
        call: Whose it is.

    Attributes:
        closing: Whether it is being closed, so that ``GeneratorExit`` is no plugin's doing.
    """

    __slots__ = ("_call", "_generator", "_waits_for", "closing")

    def __init__(self, generator: Generator[Any, Any, None], waits_for: Any, call: Call) -> None:
        self._generator = generator
        self._waits_for = waits_for
        self._call = call
        self.closing = False

    def __await__(self) -> Generator[Any, Any, None]:
        generator, waits_for, call = self._generator, self._waits_for, self._call
        call.longest = 0.0
        while True:
            if (took := clock() - call.resumed) > call.longest:
                call.longest = took
            sent: Any = None
            raised: BaseException | None = None
            try:
                sent = yield waits_for
            except GeneratorExit:
                self.closing = True
                _close(generator)
                raise
            except BaseException as error:  # noqa: BLE001 - it is raised again inside the coroutine
                raised = error
            if raised is not None and call.is_given_up():
                _stop_timeouts(generator)
                _keep_unfinished(generator)
                raise Abandoned
            call.resumed = clock()
            try:
                waits_for = generator.send(sent) if raised is None else generator.throw(raised)
            except StopIteration:
                return


def _close(generator: Generator[Any, Any, None]) -> None:
    waiting = getattr(generator, "gi_yieldfrom", None)
    with suppress(BaseException):
        generator.close()
    if getattr(waiting, "cr_frame", None) is not None:  # it ignores even that
        _keep_unfinished(waiting)


def _stop_timeouts(generator: Generator[Any, Any, None]) -> None:
    """Stop each ``asyncio.timeout`` inside which a coroutine waits: when it expires it cancels the task, which goes on.

    The block that waits holds the timeout, or its method ``__aexit__``, where only the garbage collector sees it.
    """
    import gc
    from asyncio import Timeout

    waiting: Any = generator
    while waiting is not None:
        for held in gc.get_referents(waiting):
            timeout: Any = held.__self__ if type(held) is MethodType else held
            if issubclass(type(timeout), Timeout):
                with suppress(RuntimeError):  # it is not entered, or over
                    timeout.reschedule(None)
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)


def _keep_unfinished(waiting: object) -> None:
    """Keep a coroutine from ever being closed: that would run it once more, and it need not come to an end.

    The interpreter closes what is left when it ends, so it must find a reference that no part of the program holds.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(waiting))
