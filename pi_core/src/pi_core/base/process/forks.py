"""Ends children that plugins fork and that return into pi, where they would continue the same run.

A child usually exits by ``sys.exit``, but pi catches ``SystemExit`` like any other exception of a plugin, and both
processes would then continue the run. Such a child stores nothing. Children that end by themselves, such as children of
``subprocess`` and ``multiprocessing``, never return into pi and are not affected.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NoReturn
from weakref import WeakSet

from pi_core.agent.safe_text import format_exception

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator
    from types import FrameType

__all__ = ["ForkGuard", "exit_child", "exit_forked_children", "exit_if_child"]

_CHILD_RETURNED = (
    "{} called os.fork, and the child process returned into pi, which ends it here. "
    "Use subprocess or multiprocessing, or end the child with os._exit"
)


class ForkGuard:
    """Detects children that are forked in the thread of the event loop, and ends them when they return into pi.

    Forks in other threads, or while the event loop is not running, are ignored.

    Args:
        on_child: Called immediately in a child; it must prevent the child from storing anything.
        plugin_on: Returns the plugin whose code is innermost on the stack of a frame.

    Attributes:
        in_child: Whether this process is such a child.
        plugin: The plugin that forked it, if it is known.
    """

    def __init__(
        self,
        on_child: Callable[[], None],
        plugin_on: Callable[[FrameType], str | None] = lambda _frame: None,
    ) -> None:
        self.in_child = False
        self.plugin: str | None = None
        self._on_child = on_child
        self._plugin_on = plugin_on
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def attach(self) -> None:
        """Start to guard the running event loop."""
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        _guards().add(self)

    def release(self) -> None:
        """Stop guarding the event loop."""
        _guards().discard(self)

    def forked(self) -> None:
        """Record the fork; called in every child."""
        if threading.get_ident() == self._thread and self._loop is not None and self._loop.is_running():
            self.in_child = True
            self.plugin = self._plugin_on(sys._getframe(2))  # noqa: SLF001 - the documented way to the stack
            self._on_child()
            _call_next(self._loop, lambda: exit_child(None, self.plugin))  # in case it returns before any check


def _call_next(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    """Let an event loop call a function before all that it was about to call.

    In a child, that would read what was sent to the parent, and change which sockets the parent's loop watches: they
    share the sockets, and the system's list of those that are watched.
    """
    import asyncio

    ready = getattr(loop, "_ready", None)
    if ready is None:  # another implementation
        loop.call_soon(function)
    else:
        ready.appendleft(asyncio.Handle(function, (), loop))


def exit_if_child(error: BaseException | None = None) -> None:
    """End this process if it is a child that has returned from a plugin or raised ``error`` in it.

    No event loop runs in such a child, because Python resets the running loop after a fork. A child that runs its own
    loop is not ended.
    """
    guard = next((each for each in _guards() if each.in_child), None)
    if guard is not None:
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            exit_child(error, guard.plugin)


def exit_child(error: BaseException | None = None, plugin: str | None = None) -> NoReturn:
    """End a child without ``finally`` blocks, ``atexit`` callbacks and flushing: those belong to the parent."""
    code = 1
    try:
        exit_with: object = error.code if isinstance(error, SystemExit) else None
        if exit_with is None and not isinstance(error, SystemExit):
            told = _CHILD_RETURNED.format("A plugin" if plugin is None else f"Plugin {plugin!r}")
            exit_with = told if error is None else f"{told}: {format_exception(error)}"
        if isinstance(exit_with, str):
            os.write(2, f"{exit_with}\n".encode(errors="replace"))
        elif exit_with is None or isinstance(exit_with, int):
            code = (exit_with or 0) & 0xFF
    finally:
        os._exit(code)


@contextmanager
def exit_forked_children(plugin: str | None = None) -> Iterator[None]:
    """End a child that was forked in the block and leaves it; for plugins that run before an event loop exists."""
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            exit_child(error, plugin)
        raise
    if os.getpid() != process:
        exit_child(None, plugin)


@cache
def _guards() -> WeakSet[ForkGuard]:
    """Return the guards of this process. The first call registers a fork handler, which cannot be unregistered."""
    guards: WeakSet[ForkGuard] = WeakSet()

    def on_fork() -> None:
        for guard in tuple(guards):
            guard.forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=on_fork)
    return guards
