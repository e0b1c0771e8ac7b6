"""Runs a plugin's code: what it raises is reported and goes no further, and a coroutine of it can be abandoned.

``Contained`` and ``reported`` are for whatever pi calls of a plugin. A hook is called by ``invoker.py``, which counts
failures and deadlines too, and a tool by ``agent/tool_run.py``, where a failure becomes the tool's result.

A task waits for its coroutine for as long as that goes on, and a cancellation is only an exception raised inside it.
So once the coroutine of a hook suspends, a generator stands between the two. It passes everything on, until it is to
stop: a coroutine that ignores every cancellation is abandoned.
"""

from __future__ import annotations

from asyncio import CancelledError, current_task
from contextlib import suppress
from time import perf_counter as clock
from types import CoroutineType, MethodType, coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pi_core.agent.safe_text import summary_and_traceback
from pi_core.base.process.forks import exit_if_child

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    Report: TypeAlias = Callable[[str, str, str, str | None], None]

__all__ = ["Abandoned", "Contained", "Suspended", "awaiting", "clock", "reported"]


class Contained:
    """A block that runs a plugin's code and goes on after it whatever it raises, ``SystemExit`` included.

    ``KeyboardInterrupt``, ``GeneratorExit`` and a cancellation of the task that runs the block pass. A process that
    the plugin forked ends here.

    Args:
        on_failure: Gets what was raised; what this raises itself leaves the block.
        passing: What else passes.
    """

    def __init__(
        self, on_failure: Callable[[BaseException], object], passing: type[BaseException] | tuple[()] = ()
    ) -> None:
        self._on_failure = on_failure
        self._passing = passing

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if error is None or isinstance(error, (KeyboardInterrupt, GeneratorExit, self._passing)):
            return False
        if isinstance(error, CancelledError) and _is_cancelled():
            return False
        exit_if_child(error)
        self._on_failure(error)
        return True


def reported(
    report: Report,
    plugin: str,
    step: str,
    failed: str,
    function: object = None,
    *,
    passing: type[BaseException] | tuple[()] = (),
) -> Contained:
    """Return a block as ``Contained`` that reports what a plugin's code raises as a failure of the plugin.

    Args:
        report: Gets plugin, step, message and stack, as ``AgentSession.complain`` does.
        plugin: Name of the plugin.
        step: What is called, such as ``command`` or ``Retrier.decide``.
        failed: What the plugin failed at, to follow "failed": ``to compact``, ``in command /go``.
        function: What is called, where it is known: the message names the innermost line of its package.
        passing: What else passes.
    """

    def report_failure(error: BaseException) -> None:
        line, stack = summary_and_traceback(error, function)
        report(plugin, step, f"Plugin {plugin!r} failed {failed}: {line}", stack)

    return Contained(report_failure, passing)


def _is_cancelled() -> bool:
    """Whether the running task is being cancelled; a plugin's ``CancelledError`` is its own where no task runs."""
    try:
        task = current_task()
    except RuntimeError:  # no event loop runs in this thread
        return False
    return task is not None and task.cancelling() > 0


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
