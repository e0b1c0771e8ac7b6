"""Contains plugin code: reports its exceptions instead of propagating them, and can abandon its coroutines.

``Contained`` and ``reported`` are for all calls of plugin code with two exceptions: hooks are called by ``invoker.py``,
which also counts failures and enforces deadlines, and tools by ``agent/tool_run.py``, where a failure becomes the
tool's result.

A task waits for its coroutine until that returns, and a cancellation is only an exception raised inside the coroutine.
So once the coroutine of a hook suspends, a generator between the coroutine and the task forwards values and exceptions.
If the coroutine ignores every cancellation, the generator stops forwarding: the coroutine is abandoned.
"""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter as clock
from types import CoroutineType, MethodType, coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from pi_core.agent.safe_text import is_interrupt, summary_and_traceback
from pi_core.base.process.forks import exit_if_child

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import TracebackType

    Report: TypeAlias = Callable[[str, str, str, str | None], None]

__all__ = ["Abandoned", "Contained", "Suspended", "awaiting", "clock", "reported"]


class Contained:
    """A block that runs a plugin's code and suppresses its exceptions, including ``SystemExit``.

    The ``KeyboardInterrupt`` of a signal, ``GeneratorExit`` and a cancellation of the task that runs the block are not
    suppressed.
    A child process that the plugin forked ends here.

    Args:
        on_failure: Called with the exception; exceptions that it raises itself are not suppressed.
        passing: Further exception types that are not suppressed.
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
        if error is None or isinstance(error, (GeneratorExit, self._passing)) or is_interrupt(error):
            return False
        if _is_cancellation(error):
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
    """Return a ``Contained`` block that reports an exception of a plugin's code as a failure of the plugin.

    Args:
        report: Called with plugin, step, message and traceback, like ``AgentSession.report_plugin_error``.
        plugin: Name of the plugin.
        step: What is called, such as ``command`` or ``Retrier.decide``.
        failed: What the plugin failed at, as text that follows "failed": ``to compact``, ``in command /go``.
        function: The function that is called, if known: the message names the innermost line of its package.
        passing: Further exception types that are not suppressed.
    """

    def report_failure(error: BaseException) -> None:
        line, stack = summary_and_traceback(error, function)
        report(plugin, step, f"Plugin {plugin!r} failed {failed}: {line}", stack)

    return Contained(report_failure, passing)


def _is_cancellation(error: BaseException) -> bool:
    """Whether the running task is being cancelled; outside of tasks a plugin itself raised the ``CancelledError``."""
    from asyncio import CancelledError, current_task  # not needed by a start that fails earlier

    if not isinstance(error, CancelledError):
        return False
    try:
        task = current_task()
    except RuntimeError:  # no event loop runs in this thread
        return False
    return task is not None and task.cancelling() > 0


class Abandoned(BaseException):
    """Raised instead of returning an answer when a coroutine is abandoned."""


class Call(Protocol):
    """The state of a call of a plugin's coroutine.

    Attributes:
        answer: What the coroutine returned.
    """

    answer: Any

    def should_abandon(self) -> bool:
        """Whether to abandon the coroutine instead of raising an exception in it, such as a cancellation."""
        ...


@coroutine
def awaiting(call: Call, awaitable: Any) -> Generator[Any, Any, None]:
    """Await a plugin's awaitable, and store the result in ``call.answer``.

    Iterating over this runs the first step: a loop over a generator that returns nothing ends without creating a
    ``StopIteration``, which would cost as much as a call of a coroutine.
    """
    iterable: Any = awaitable if type(awaitable) is CoroutineType else awaitable.__await__()  # the former is fast
    call.answer = yield from iterable


class Suspended:
    """A generator of ``awaiting`` that has yielded; awaiting this runs it to its end, or abandons it.

    Args:
        generator: The suspended generator.
        awaited: The future that it yielded.
        call: The call that it belongs to.

    Attributes:
        closing: Whether it is being closed, so that a ``GeneratorExit`` is not an error of the plugin.
    """

    __slots__ = ("_awaited", "_call", "_generator", "closing")

    def __init__(self, generator: Generator[Any, Any, None], awaited: Any, call: Call) -> None:
        self._generator = generator
        self._awaited = awaited
        self._call = call
        self.closing = False

    def __await__(self) -> Generator[Any, Any, None]:
        generator, awaited, call = self._generator, self._awaited, self._call
        while True:
            sent: Any = None
            raised: BaseException | None = None
            try:
                sent = yield awaited
            except GeneratorExit:
                self.closing = True
                _close(generator)
                raise
            except BaseException as error:  # noqa: BLE001 - it is raised again inside the coroutine
                raised = error
            if raised is not None and call.should_abandon():
                _stop_timeouts(generator)
                _keep_unfinished(generator)
                raise Abandoned
            try:
                awaited = generator.send(sent) if raised is None else generator.throw(raised)
            except StopIteration:
                return


def _close(generator: Generator[Any, Any, None]) -> None:
    waiting = getattr(generator, "gi_yieldfrom", None)
    with suppress(BaseException):
        generator.close()
    if getattr(waiting, "cr_frame", None) is not None:  # it also ignores GeneratorExit
        _keep_unfinished(waiting)


def _stop_timeouts(generator: Generator[Any, Any, None]) -> None:
    """Stop every ``asyncio.timeout`` around an abandoned coroutine, which on expiry would cancel the run's task.

    The frame refers to the timeout, or to its method ``__aexit__``, in a place that only the garbage collector can
    find.
    """
    import gc
    from asyncio import Timeout

    waiting: Any = generator
    while waiting is not None:
        for held in gc.get_referents(waiting):
            timeout: Any = held.__self__ if type(held) is MethodType else held
            if issubclass(type(timeout), Timeout):
                with suppress(RuntimeError):  # it was not entered, or has expired
                    timeout.reschedule(None)
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)


def _keep_unfinished(waiting: object) -> None:
    """Leak a reference to a coroutine, so that it is never closed: closing resumes it, and it may never return.

    A reference in a variable does not suffice, because the interpreter closes remaining coroutines when it exits.
    """
    import ctypes

    ctypes.pythonapi.Py_IncRef(ctypes.py_object(waiting))
