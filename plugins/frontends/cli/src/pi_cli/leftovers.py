"""Exit of the process when plugins leave threads or tasks running: they get some seconds to finish, then it exits.

Python waits for every thread and every exit handler, and asyncio for every task that it cancels, without a limit. A
program that waits for pi's answer in a pipeline must not wait for them.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from pi_cli.report import warn
from pi_core.base.frames import frames_outwards
from pi_core.hooks.acting import acting_plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from pi_core import AgentSession
    from pi_core.host.owners import CodeOwners

__all__ = ["LastMoment", "leave_exit_handlers", "leave_threads"]

_SECONDS = 5.0

_owners: CodeOwners | None = None
"""Knows the code of the plugins that the last session had."""


class LastMoment:
    """Ends the process when the event loop does not finish its tasks and threads after the work is over.

    Attributes:
        session: The session that the event loop runs, once there is one.
        stopped_by: The plugin that stopped the event loop, if one did.
    """

    def __init__(self) -> None:
        self.session: AgentSession | None = None
        self.stopped_by: str | None = None
        self._timer: threading.Timer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def watch_loop(
        self, report: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None], owners: CodeOwners
    ) -> None:
        """Note which plugin stops the running event loop, and pass errors outside of awaited code to ``report``.

        The loop goes on to the end of its iteration, so that hooks of other plugins may run before it has stopped.
        What its end causes is not reported. ``owners`` knows whose threads and tasks are left at the end.
        """
        global _owners  # noqa: PLW0603 - threads are left after everything else has ended
        _owners = owners
        loop = asyncio.get_running_loop()
        stop = loop.stop

        def noting_stop() -> None:
            self.stopped_by = self.stopped_by or acting_plugin()
            stop()

        def on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            if self.stopped_by is None:
                report(loop, context)

        self._loop = loop
        loop.stop = noting_stop  # type: ignore[method-assign]
        loop.set_exception_handler(on_error)

    def begins(self, exit_code: int) -> None:
        """Record that the work is over; called on the event loop."""
        loop = asyncio.get_running_loop()
        tasks = [task for task in asyncio.all_tasks(loop) if task is not asyncio.current_task(loop)]
        self._timer = threading.Timer(_SECONDS, lambda: _end([*map(_task_name, tasks)] or _threads(), exit_code))
        self._timer.daemon = True
        self._timer.start()

    def is_over(self) -> None:
        """Record that the event loop is closed."""
        if self._loop is not None:  # Python finds failed tasks at its very end, when nothing works any more
            self._loop.set_exception_handler(lambda *_: None)
        if self._timer is not None:
            self._timer.cancel()


def leave_threads(exit_code: int) -> None:
    """Wait briefly for non-daemon threads, and end the process if they keep running."""
    if not _threads():
        return
    until = time.monotonic() + _SECONDS
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join(max(until - time.monotonic(), 0))
    left = _threads()
    if left:
        _end(left, exit_code)


def leave_exit_handlers(exit_code: int) -> None:
    """Give ``atexit`` functions some seconds at interpreter exit, then end the process."""
    threading.Thread(target=_limit_exit, args=[exit_code], daemon=True).start()  # at exit no thread can be started


def _limit_exit(exit_code: int) -> None:
    main = threading.main_thread()
    while main.is_alive():
        time.sleep(0.1)
    time.sleep(_SECONDS)
    frames = [*frames_outwards(sys._current_frames().get(main.ident or 0))]  # noqa: SLF001 - documented, and the only way
    code = frames[-1].f_code if frames else None
    name = f"{code.co_qualname!r} ({code.co_filename}, line {code.co_firstlineno})" if code is not None else "unknown"
    _end([f"exit handler {name}"], exit_code)


def _threads() -> list[str]:
    mine = (threading.main_thread(), threading.current_thread())
    left = [each for each in threading.enumerate() if not each.daemon and each not in mine]
    stacks = sys._current_frames() if left else {}  # noqa: SLF001 - documented, and the only way
    return [f"thread {each.name!r}{_owned(stacks.get(each.ident or 0))}" for each in left]


def _task_name(task: asyncio.Task[object]) -> str:
    coroutine = task.get_coro()
    name = getattr(coroutine, "__qualname__", task.get_name())
    return f"task {name!r}{_owned(getattr(coroutine, 'cr_frame', None))}"


def _owned(frame: FrameType | None) -> str:
    """Return whose code runs in a frame, as text that follows a name; empty if it is no plugin's."""
    owners = _owners
    plugins = map(owners.plugin_of, frames_outwards(frame)) if owners is not None else ()
    plugin = next(filter(None, plugins), None)
    return f" of plugin {plugin!r}" if plugin is not None else ""


def _end(left: Iterable[str], exit_code: int) -> None:
    warn(f"pi exits although something that a plugin started is still running: {', '.join(left) or 'a task'}")
    try:
        sys.stdout.flush()
    finally:
        os._exit(exit_code)
