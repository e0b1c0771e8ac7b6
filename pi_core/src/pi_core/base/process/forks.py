"""A plugin that forks makes a second process in the middle of the same run; that child must end and store nothing.

The usual child leaves with ``sys.exit``, which is an exception like any other that a plugin raises: pi contains it, and
both processes would go on with the run. What ends by itself, as the children of ``subprocess`` and ``multiprocessing``
do, never comes back and notices nothing.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NoReturn
from weakref import WeakSet

from pi_core.agent.safe_text import format_exception

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ForkGuard", "ending_children", "leave_child", "leave_if_child"]

_CAME_BACK = (
    "A plugin called os.fork, and the child went on into pi, which ends it here. "
    "Use subprocess or multiprocessing, or end the child with os._exit"
)


class ForkGuard:
    """Ends the children that come back into a piece of work which goes on in their parent.

    A process that forks while the event loop does not run, or in another thread, is left alone.

    Args:
        on_child: Called in a child, at once: it must let nothing be stored.

    Attributes:
        in_child: Whether this process is such a child.
    """

    def __init__(self, on_child: Callable[[], None]) -> None:
        self.in_child = False
        self._on_child = on_child
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    def work_here(self) -> None:
        """The work goes on in the running event loop from now on."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        _guards().add(self)

    def release(self) -> None:
        """The work has ended: children may do as they like."""
        _guards().discard(self)

    def forked(self) -> None:
        """Called in every child."""
        if threading.get_ident() == self._thread and self._loop is not None and self._loop.is_running():
            self.in_child = True
            self._on_child()
            self._loop.call_soon(leave_child)  # should it come back to the loop without meeting a check before


def leave_if_child(error: BaseException | None = None) -> None:
    """End this process if it is a child that came back out of a plugin; ``error`` is what it came back with.

    In such a child no event loop runs: Python has forgotten the parent's. A child that runs one of its own is at work.
    """
    if any(guard.in_child for guard in _guards()):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            leave_child(error)


def leave_child(error: BaseException | None = None) -> NoReturn:
    """End a child without running what its parent is to run: no ``finally``, no ``atexit``, no flush of shared text."""
    code = 1
    try:
        wanted: object = error.code if isinstance(error, SystemExit) else None
        if wanted is None and not isinstance(error, SystemExit):
            wanted = _CAME_BACK if error is None else f"{_CAME_BACK}: {format_exception(error)}"
        if isinstance(wanted, str):
            os.write(2, f"{wanted}\n".encode(errors="replace"))
        elif wanted is None or isinstance(wanted, int):
            code = (wanted or 0) & 0xFF
    finally:
        os._exit(code)


@contextmanager
def ending_children() -> Iterator[None]:
    """End a child that comes back out of the block, where a plugin works before there is an event loop."""
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            leave_child(error)
        raise
    if os.getpid() != process:
        leave_child()


@cache
def _guards() -> WeakSet[ForkGuard]:
    """Return the guards of this process. The first call registers them for forks, which cannot be taken back."""
    guards: WeakSet[ForkGuard] = WeakSet()

    def tell() -> None:
        for guard in tuple(guards):
            guard.forked()

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=tell)
    return guards
