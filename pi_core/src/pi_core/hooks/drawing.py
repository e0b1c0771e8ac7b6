"""Runs plugin code that draws or handles keys; what is slow three times in a row is switched off.

Such code is not a hook: it is called for every frame, returns plain values and does not wait. A plugin must not lose
its place on the screen because the machine was busy or suspended, so code that used little processor time gets twice
the time. Code that does not return is interrupted as everywhere else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pi_core.hooks.acting import acting
from pi_core.hooks.containment import reported

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pi_core.hooks.containment import Report
    from pi_hookspecs import Line

__all__ = ["DRAWING_SECONDS", "FAILURES", "DrawingGuard", "DrawingSlot", "listed", "rows_of"]

T = TypeVar("T")

DRAWING_SECONDS = 0.1
"""How long one call may take; one that takes longer counts as a failure."""

FAILURES = 3
"""Consecutive failures after which a slot is closed."""


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
        self._is_warm = False
        self._failures = 0
        self._failures_of: dict[str, int] = {}

    def call(self, function: Callable[..., T], *arguments: Any, **options: Any) -> tuple[bool, T | None]:
        """Call a function of the plugin; see ``run``."""
        return self.run(lambda: function(*arguments, **options), function)

    def run_closed(self, work: Callable[[], object], function: object) -> None:
        """Run code of the plugin even if the slot is closed, to clean up; see ``run``."""
        DrawingSlot(self._report, self.plugin, self.what, bool).run(work, function)

    def run(self, work: Callable[[], T], function: object, step: str = "") -> tuple[bool, T | None]:
        """Run code of the plugin; report exceptions, and calls that take too long.

        The third consecutive failure, of all steps or of one, closes the slot, with a notice. The result of a call that
        takes too long is used. A first call may import modules, and is not measured.

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
        name = self.plugin or "(program)"
        failed = partial(self._failed, step)
        with acting(self.plugin), reported(failed, name, "drawing", f"in {self.what}", function):
            began, computed = time.monotonic(), time.thread_time()
            answer = work()
            if self._is_warm and _is_slow(time.monotonic() - began, time.thread_time() - computed):
                failed(name, "drawing", f"Plugin {name!r}: {self.what} took longer than {DRAWING_SECONDS:g} s", None)
            elif not hasattr(answer, "__await__"):  # otherwise ``wait`` finds out
                self._failures = self._failures_of[step] = 0
            self._is_warm = True
            return True, answer
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


def _is_slow(seconds: float, computed: float) -> bool:
    return seconds > DRAWING_SECONDS and (computed > DRAWING_SECONDS / 2 or seconds > 2 * DRAWING_SECONDS)


def rows_of(lines: Any) -> list[str | Line]:
    """Return the rows that plugin code drew, as a list.

    Raises:
        TypeError: The value is not a list of texts and lines.
    """
    from pi_hookspecs import Line

    rows = listed(lines)
    for each in rows:
        if not isinstance(each, str | Line):
            message = f"it returned a row {each!r:.60}, which is neither a string nor a Line"
            raise TypeError(message)
        if isinstance(each, Line):
            _check_line(each)
    return rows


def listed(lines: Any) -> list[Any]:
    """Return what plugin code drew as a list of any rows.

    Raises:
        TypeError: The value has no rows, or it is a text, whose characters would be drawn as rows.
    """
    if isinstance(lines, str):
        message = f"it returned the string {lines!r:.60}, not a list of lines"
        raise TypeError(message)
    if not isinstance(lines, Iterable):
        message = f"it returned {lines!r:.60}, not a list of lines"
        raise TypeError(message)
    return [*lines]


def _check_line(line: Line) -> None:
    from pi_hookspecs import Run

    runs: tuple[Any, ...] = line.runs
    for run in runs:
        if not (isinstance(run, Run) and all(isinstance(each, str) for each in run[:2])):
            message = f"it returned a Line with {run!r:.60}, which is not a Run of a string and the name of a role"
            raise TypeError(message)
