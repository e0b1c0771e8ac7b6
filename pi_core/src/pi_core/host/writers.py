"""Determines which plugin has written to stdout or stderr, from the stacks of threads and what tasks wait for."""

from __future__ import annotations

import asyncio
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from weakref import ref

from pi_core.base.frames import frames_outwards
from pi_core.hooks.acting import acting_plugin
from pi_core.hooks.containment import Suspended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType

    from pi_core.host.owners import CodeOwners

__all__ = ["OutputWriters", "printing_plugin"]

_STARTERS = frozenset({"subprocess", "asyncio.subprocess", "asyncio.base_subprocess"})
"""Modules in which code waits for a program."""

_STARTS = frozenset(
    {"_thread.start_joinable_thread", "_thread.start_new_thread"}  # from Python 3.13 and 3.12 on; none before
    | {"os.fork", "os.posix_spawn", "os.system", "subprocess.Popen"}
)
"""Audit events of what may write after the code that has started it has gone on."""

_FRAMES, _AWAITED = ("cr_frame", "gi_frame", "ag_frame"), ("cr_await", "gi_yieldfrom", "ag_await")
_SUSPENDED = Suspended.__await__.__code__

_MOST_STEPS = 100
"""Coroutines that may wait for each other."""


class OutputWriters:
    """Whose code may have written, for one host and the event loop that runs; pi's own plugins are left out.

    Args:
        owners: Whose code a frame belongs to.
    """

    def __init__(self, owners: CodeOwners) -> None:
        self._owners = owners
        self._loop = asyncio.get_running_loop()
        self._starters: dict[str, None] = {}  # in their order; plugins, so that they are few
        _note_starts(self)

    def on_stack(self, frame: FrameType | None) -> str | None:
        """Return the plugin that runs in a frame; None if pi's own code is further in, or nobody else's."""
        return self._plugin_in(frames_outwards(frame))

    def candidates(self) -> list[str]:
        """Return the plugins whose code runs, or waits, in any thread or task.

        If some of them wait for a program, only those are returned: the others have waited longer than their output. If
        there are none, those are returned that have started a thread or a program, which may have ended meanwhile.
        """
        current = threading.get_ident()
        stacks = [
            list(frames_outwards(frame))
            for thread, frame in sys._current_frames().items()  # noqa: SLF001 - documented, and the only way
            if thread != current
        ]
        found: list[tuple[str, bool]] = []
        for frames in [*stacks, *self._waiting_frames()]:
            plugin = self._plugin_in(frames)
            if plugin is not None:
                found.append((plugin, any(each.f_globals.get("__name__") in _STARTERS for each in frames)))
        starters = [plugin for plugin, starts in found if starts]
        return list(dict.fromkeys(starters or [plugin for plugin, _ in found] or self._starters))

    def note_start(self, frame: FrameType) -> None:
        """Note that the code of a frame starts a thread or a program."""
        with suppress(Exception):  # it would be raised in that code
            plugin = self.on_stack(frame)
            if plugin is not None:
                self._starters[plugin] = None

    def _plugin_in(self, frames: Iterable[FrameType]) -> str | None:
        found = self._owners.innermost(frames)
        return found[0] if found is not None and not self._owners.is_default(found[0]) else None

    def _waiting_frames(self) -> Iterator[list[FrameType]]:
        with suppress(RuntimeError):  # the loop adds a task at this moment
            for task in asyncio.all_tasks(self._loop):
                yield [*_awaited(task.get_coro())][::-1]


def _note_starts(writers: OutputWriters) -> None:
    """Pass on what starts threads and programs, while the object exists; an audit hook cannot be removed."""
    found = ref(writers)

    def audit_hook(event: str, _arguments: object) -> None:
        if event in _STARTS and (target := found()) is not None:
            target.note_start(sys._getframe(1))  # noqa: SLF001 - the documented way to the stack

    sys.addaudithook(audit_hook)


def printing_plugin(owners: CodeOwners, frame: FrameType | None) -> str | None:
    """Return the plugin that prints with ``sys.stdout``, from the stack of the call or from the task it runs in."""
    frames = list(frames_outwards(frame))
    found = owners.innermost(frames)
    if found is None and any(map(owners.is_pi, frames)):
        return None
    plugin = found[0] if found is not None else acting_plugin()
    return None if owners.is_default(plugin) else plugin


def _awaited(waiting: Any) -> Iterator[FrameType]:
    """Yield the frames of a coroutine and of those that it waits for, from the outside."""
    for _ in range(_MOST_STEPS):
        if waiting is None:
            return
        frame = next(filter(None, (getattr(waiting, name, None) for name in _FRAMES)), None)
        if frame is not None:
            yield frame
        if frame is not None and frame.f_code is _SUSPENDED:  # it runs the hook's coroutine without waiting for it
            waiting = frame.f_locals.get("generator")
        else:
            waiting = next(filter(None, (getattr(waiting, name, None) for name in _AWAITED)), None)
