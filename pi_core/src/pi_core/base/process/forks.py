"""Forks by plugins: a child that returns into pi would continue the same run, so it is ended there and stores nothing.

A child usually exits by ``sys.exit``, whose ``SystemExit`` pi contains like any other exception of a plugin; both
processes would then continue the run. Children that end by themselves, as those of ``subprocess`` and
``multiprocessing``, never return into pi and are not affected.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NoReturn
from weakref import WeakSet

from pi_core.agent.safe_text import format_exception

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator

__all__ = ["ForkGuard", "exit_child", "exit_forked_children", "exit_if_child"]

_CHILD_RETURNED = (
    "A plugin called os.fork, and the child went on into pi, which ends it here. "
    "Use subprocess or multiprocessing, or end the child with os._exit"
)


class ForkGuard:
    """Detects children that are forked in the thread of the event loop, and ends them when they return into pi.

    Forks while the event loop does not run, or in another thread, are ignored.

    Args:
        on_child: Called in a child immediately; it must prevent that anything is stored.

    Attributes:
        in_child: Whether this process is such a child.
    """

    def __init__(self, on_child: Callable[[], None]) -> None:
        self.in_child = False
        self._on_child = on_child
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def attach(self) -> None:
        """Guard the running event loop from now on."""
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        _guards().add(self)

    def release(self) -> None:
        """Guard no longer."""
        _guards().discard(self)

    def forked(self) -> None:
        """Note the fork; called in every child."""
        if threading.get_ident() == self._thread and self._loop is not None and self._loop.is_running():
            self.in_child = True
            self._on_child()
            self._loop.call_soon(exit_child)  # if it returns to the event loop before any check


def exit_if_child(error: BaseException | None = None) -> None:
    """End this process if it is a child that returned from a plugin, or raised ``error`` there.

    In such a child no event loop runs: Python resets the running loop after a fork. A child that runs a loop of its own
    is left alone.
    """
    if any(guard.in_child for guard in _guards()):
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            exit_child(error)


def exit_child(error: BaseException | None = None) -> NoReturn:
    """End a child without ``finally`` blocks, ``atexit`` callbacks and flushes of buffers: those are the parent's."""
    code = 1
    try:
        exit_with: object = error.code if isinstance(error, SystemExit) else None
        if exit_with is None and not isinstance(error, SystemExit):
            exit_with = _CHILD_RETURNED if error is None else f"{_CHILD_RETURNED}: {format_exception(error)}"
        if isinstance(exit_with, str):
            os.write(2, f"{exit_with}\n".encode(errors="replace"))
        elif exit_with is None or isinstance(exit_with, int):
            code = (exit_with or 0) & 0xFF
    finally:
        os._exit(code)


@contextmanager
def exit_forked_children() -> Iterator[None]:
    """End a child that was forked in the block and leaves it: for plugins that run before there is an event loop."""
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            exit_child(error)
        raise
    if os.getpid() != process:
        exit_child()


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
