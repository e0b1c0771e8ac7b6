"""Runs plugin code that draws or handles keys, and interrupts it after a tenth of a second.

Such code is not a hook: it is called for every frame, returns plain values and does not wait. The interval timer
measures its time, as for hooks that block. A plugin must not lose its place on the screen because the machine was busy
or suspended, so code that used little processor time gets twice the time. The clock is stopped while a module is
imported, for example in a first call.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pi_core.hooks.acting import acting
from pi_core.hooks.containment import reported
from pi_core.hooks.interrupt import Interrupted, Interrupter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import FrameType

    from pi_core.hooks.containment import Report
    from pi_hookspecs import Line

__all__ = ["DRAWING_SECONDS", "FAILURES", "DrawingGuard", "DrawingSlot", "rows_of"]

T = TypeVar("T")

DRAWING_SECONDS = 0.1
"""How long one call may take."""

FAILURES = 3
"""Consecutive failures after which a slot is closed."""

_IMPORT_SECONDS = 10.0
"""How long imports may stop the clock."""


class DrawingGuard:
    """Creates the slots of one session, and keeps named slots, such as those for renderers.

    Args:
        report: Called with plugin, step, message and traceback, like ``AgentSession.report_plugin_error``.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._named: dict[tuple[str, str], tuple[object, DrawingSlot]] = {}

    def slot(self, plugin: str | None, what: str, on_close: Callable[[], object] = bool) -> DrawingSlot:
        """Return a new slot.

        Args:
            plugin: Name of the plugin whose code it runs; None for code of the program.
            what: What is drawn, for messages: ``widget 'todo'``.
            on_close: Called once when the slot is closed because of failures.
        """
        return DrawingSlot(self._report, plugin, what, on_close)

    def named(self, plugin: str, what: str, owner: object) -> DrawingSlot:
        """Return the slot of a registered object; a new slot if the object has been replaced.

        Args:
            plugin: Name of the plugin.
            what: What is drawn, as in ``slot``.
            owner: The object, which a reload replaces.
        """
        known = self._named.get((plugin, what))
        if known is None or known[0] is not owner:
            known = self._named[plugin, what] = owner, self.slot(plugin, what)
        return known[1]


class DrawingSlot:
    """A place on the screen that a plugin fills. Use ``DrawingGuard.slot``.

    Attributes:
        plugin: Name of the plugin; None for the program.
        what: What is drawn there, for messages.
        closed: Whether the slot failed too often; the plugin's code is then no longer called.
    """

    def __init__(self, report: Report, plugin: str | None, what: str, on_close: Callable[[], object]) -> None:
        self.plugin = plugin
        self.what = what
        self.closed = False
        self._report = report
        self._on_close = on_close
        self._failures = 0
        self._failures_of: dict[str, int] = {}

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> tuple[bool, T | None]:
        """Call a function of the plugin; see ``run``."""
        return self.run(lambda: function(*arguments, **options), function)

    def run_closed(self, work: Callable[[], object], function: object) -> None:
        """Run code of the plugin even if the slot is closed, to clean up; see ``run``."""
        DrawingSlot(self._report, self.plugin, self.what, bool).run(work, function)

    def run(self, work: Callable[[], T], function: object, step: str = "") -> tuple[bool, T | None]:
        """Run code of the plugin; report exceptions and calls that take too long.

        The third consecutive failure, of all steps or of one, closes the slot, with a notice. A call that takes too
        long is not interrupted outside the main thread, or if the system has no interval timer.

        Args:
            work: Calls the plugin.
            function: The function that it calls, for the message about an exception.
            step: What is done. Failures of each step are also counted separately, because a component that fails with
                every key may be drawn successfully in between.

        Returns:
            Whether it returned, and its result.
        """
        if self.closed:
            return False, None
        clock = _Clock(self.what)
        name = self.plugin or "(program)"
        try:
            failed = partial(self._failed, step)
            with acting(self.plugin), reported(failed, name, "drawing", f"in {self.what}", function):
                answer = _run(clock, work)
                if not hasattr(answer, "__await__"):  # otherwise ``wait`` finds out
                    self._failures = self._failures_of[step] = 0
                return True, answer
        finally:
            clock.stop()
        return False, None

    async def wait(self, answer: Awaitable[T], seconds: float) -> T | None:
        """Await the result of a plugin's ``async`` function; failures count like failures in ``run``.

        Returns:
            The result; None if it raised or took too long. In the latter case it is cancelled and not awaited.
        """
        name = self.plugin or "(program)"
        with acting(self.plugin), reported(partial(self._failed, ""), name, "drawing", f"in {self.what}"):
            task = asyncio.ensure_future(answer)
            try:
                done, _ = await asyncio.wait((task,), timeout=seconds)
            finally:
                task.cancel()
            if not done:
                raise TimeoutError(f"no answer within {seconds:g} s")
            result = task.result()
            self._failures = self._failures_of[""] = 0
            return result
        return None

    def _failed(self, done: str, plugin: str, step: str, message: str, stack: str | None) -> None:
        self._failures += 1
        self._failures_of[done] = self._failures_of.get(done, 0) + 1
        self._report(plugin, step, message, stack)
        if max(self._failures, self._failures_of[done]) < FAILURES:
            return
        self.closed = True
        message = f"Plugin {plugin!r}: {self.what} is switched off, because it failed {FAILURES} times in a row"
        self._report(plugin, step, message, None)
        self._on_close()


def _run(clock: _Clock, work: Callable[[], T]) -> T:
    """Run the code; the clock interrupts only inside this function."""
    clock.start()
    return work()


def rows_of(lines: Any) -> list[str | Line]:
    """Return the rows that plugin code drew, as a list.

    Raises:
        TypeError: The value is not a list of texts and lines.
    """
    from pi_hookspecs import Line

    if isinstance(lines, str):
        message = f"it returned the string {lines!r:.60}, not a list of lines"
        raise TypeError(message)
    rows: list[Any] = [*lines]
    for each in rows:
        if not isinstance(each, str | Line):
            message = f"it returned a row {each!r:.60}, which is neither a string nor a Line"
            raise TypeError(message)
        if isinstance(each, Line):
            _check_line(each)
    return rows


def _check_line(line: Line) -> None:
    from pi_hookspecs import Run

    runs: tuple[Any, ...] = line.runs
    for run in runs:
        if not (isinstance(run, Run) and all(isinstance(each, str) for each in run[:2])):
            message = f"it returned a Line with {run!r:.60}, which is not a Run of a string and the name of a role"
            raise TypeError(message)


class _Clock:
    """The time of one call."""

    def __init__(self, what: str) -> None:
        self._what = what
        interrupter = Interrupter.current()
        self._watch = interrupter.watch(self._on_stall) if interrupter is not None else None
        self._began = self._computed = 0.0
        self._waited = False

    def start(self) -> None:
        """Start the clock."""
        if self._watch is not None:
            self._began, self._computed = time.monotonic(), time.thread_time()
            self._watch.rearm(DRAWING_SECONDS)

    def stop(self) -> None:
        """Stop the clock."""
        if self._watch is not None:
            self._watch.stop()

    def _on_stall(self, frame: FrameType | None) -> BaseException | float:
        """Return the exception to raise in the plugin's code, or the seconds until the next check."""
        importing = False
        while frame is not None and frame.f_code is not _run.__code__:
            importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
            frame = frame.f_back
        if frame is None:
            return DRAWING_SECONDS  # pi's own code, after the plugin's
        seconds = time.monotonic() - self._began
        if importing and seconds < _IMPORT_SECONDS:
            return DRAWING_SECONDS
        if not self._waited and time.thread_time() - self._computed < DRAWING_SECONDS / 2:
            self._waited = True
            return DRAWING_SECONDS
        return Interrupted(f"{self._what} took longer than {DRAWING_SECONDS:g} s")
