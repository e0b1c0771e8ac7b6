"""Watches an event loop: names the plugin whose code blocks it, and interrupts that code.

A thread looks at the stack of the loop's thread. A loop that waits for events runs no callback; if two looks find the
same callback, the loop has stood still between them. The plugin is read from the stack as well, so that whatever runs
in the loop is covered, and no kind of call has a cost or a mechanism of its own. While the loop waits for long, the
thread waits as well.

C code that keeps the interpreter's lock stops this thread too. Therefore the thread sets the interval timer ahead: its
handler looks instead of the thread where C code checks for signals, as regular expressions do, and otherwise as soon as
the C code returns. Code is interrupted by an exception that the handler raises; code that swallows every exception, by
a trace function that raises at each further line.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from asyncio.events import Handle
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from pi_core.base.frames import frames_outwards, top_package
from pi_core.hooks.acting import acting_plugin, calling_plugin
from pi_core.hooks.interrupt import Interrupter
from pi_core.hooks.running_call import current_call
from pi_hookspecs.deferred import define, frozen
from pi_hookspecs.values import ReprMixin, Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextvars import Context
    from types import FrameType

    from pi_core.hooks.interrupt import Watch

__all__ = [
    "BLOCKING_SECONDS",
    "Block",
    "BlockDisplay",
    "LoopBlocked",
    "Owners",
    "Watched",
    "displaying_blocks",
    "show_waiting",
    "show_waiting_for",
    "watch_loop",
]

BLOCKING_SECONDS = 1.0
"""After this time, code that blocks the event loop is named."""

_IDLE_SECONDS = 0.85
"""Time between two looks at a loop that did not stand still at the last one."""

_PARKED_SECONDS = 60.0
"""Time between two looks at whether a loop that waits was closed."""

_BLOCKED_SECONDS = 0.1
"""Time between two looks at a loop that stands still."""

_ALARM_SECONDS = 1.2
"""Time after a look until the timer looks, if the thread has not looked before."""

_IMPORT_SECONDS = 30.0
"""Least time that imports may take before they are interrupted."""

_TRACE_SECONDS = 0.001
"""Time after which the next exception is raised in code that swallowed the one that ended its trace."""

_INSIST_SECONDS = 2.0
"""Time after which code is interrupted wherever it is, even inside pi's engine and libraries."""

_CALLBACK = Handle._run.__code__  # noqa: SLF001 - the frame in which asyncio runs a callback has no public name
_DEBUGGERS = frozenset({"bdb", "pdb", "pydevd", "_pydevd_bundle", "debugpy"})


class LoopBlocked(Exception):
    """Raised inside code that blocks the event loop.

    It is an ``Exception``, so that whatever contains failures of plugins contains it: the trace function keeps the
    plugin's own code from catching it.
    """


class Owners(Protocol):
    """Whose code a stack frame belongs to; implemented by the plugin host."""

    def plugins_of(self, frame: FrameType) -> list[str]:
        """Return the plugins that a frame's code may belong to."""
        ...

    def is_pi(self, frame: FrameType) -> bool:
        """Whether a frame belongs to pi's engine, or to a front end."""
        ...

    def is_program(self, frame: FrameType) -> bool:
        """Whether a frame belongs to a module of the program that has passed the plugin to pi."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class Block(Value):
    """Code that blocks, or has blocked, the event loop.

    Attributes:
        plugin: The plugin; None if the code that runs does not belong to a plugin.
        place: Function, file and line, as text.
        seconds: How long it has blocked so far; time during which the process was suspended is left out.
        limit: Seconds after which it is interrupted; None if it is not.
    """

    plugin: str | None
    place: str
    seconds: float
    limit: float | None = None

    def __str__(self) -> str:
        who = f"Plugin {self.plugin!r}" if self.plugin is not None else "pi itself"
        until = f"; it is interrupted after {self.limit:g} s" if self.limit is not None else ""
        return f"{who} has blocked everything else for {self.seconds:.0f} s in {self.place}{until}"


class Watched(Protocol):
    """Something whose plugins run in the event loop, such as a session.

    Attributes:
        owners: Finds its plugins' code; None if it has no plugins.
        block_seconds: After this time, code that blocks the loop is interrupted.
    """

    owners: Owners | None
    block_seconds: float

    def blocked(self, block: Block) -> None:
        """Report code that has blocked the loop and has ended; called in the loop."""
        ...

    def interrupted(self, block: Block) -> None:
        """Quarantine a plugin whose code was interrupted, and report it; called in the loop."""
        ...


class BlockDisplay(Protocol):
    """Shows the user at once what blocks the loop. Called in any thread, while the loop stands still."""

    def show(self, block: Block, hint: str) -> None:
        """Show what blocks the loop, and what a key would do; called again when either changes."""
        ...

    def interrupts(self) -> int:
        """Return how often the user has pressed the key that interrupts since the last call."""
        ...

    def end(self) -> None:
        """Show the conversation again; called when the loop runs again."""
        ...

    def show_waiting(self, text: str | None) -> None:
        """Show what is waited for while the loop runs; None if nothing is any more. Called in the loop."""
        ...

    def leave(self) -> None:
        """End the process, because the code cannot be interrupted."""
        ...


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopWatch] = WeakKeyDictionary()
_displays: list[BlockDisplay] = []


def watch_loop(watched: Watched) -> Callable[[], None]:
    """Watch the running event loop for a session; return a function that ends this."""
    loop = asyncio.get_running_loop()
    watch = _watches.get(loop)
    if watch is None:
        watch = _watches[loop] = LoopWatch(loop)
    return watch.join(watched)


def show_waiting(calls: Sequence[tuple[str, str]]) -> None:
    """Show the user which hooks of plugins are waited for; nothing if there are none any more."""
    show_waiting_for(", ".join(f"plugin {plugin!r}: {hook}" for plugin, hook in dict.fromkeys(calls)))


def show_waiting_for(what: str) -> None:
    """Show the user what is waited for; nothing if the text is empty."""
    for display in _displays[-1:]:
        display.show_waiting(f"Waiting for {what}" if what else None)


@contextmanager
def displaying_blocks(display: BlockDisplay) -> Iterator[None]:
    """Show what blocks a loop on this display inside the block, instead of on the one before."""
    _displays.append(display)
    try:
        yield
    finally:
        _displays.remove(display)


@define(eq=False, repr=False)
class _Standstill(ReprMixin):
    """A callback that runs since at least two looks.

    Attributes:
        callback: The frame of the callback.
        plugin: The plugin whose code it runs.
        boundary: The frame that has called the plugin's code, to which an interruption leads.
        is_owned: Whether a frame inside belongs to a module of the plugin.
        place: Function, file and line.
        seconds: How long this code has blocked the loop.
        is_importing: Whether it imports a module.
        is_debugging: Whether a debugger waits in it.
        is_named: Whether it has been shown.
        interrupts: How often the user has pressed the key that interrupts.
        interrupted_at: The value of ``seconds`` when its interruption was decided.
        is_signalled: Whether the timer has been set for the interruption.
    """

    callback: FrameType
    plugin: str | None
    boundary: FrameType
    is_owned: bool
    place: str
    is_importing: bool
    is_debugging: bool
    seconds: float = 0.0
    is_named: bool = False
    interrupts: int = 0
    interrupted_at: float | None = None
    is_signalled: bool = False


class LoopWatch:
    """Watches one event loop, from its own thread; use ``watch_loop``."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread_id = threading.get_ident()
        self._joined: list[Watched] = []
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._looking = threading.Lock()
        self._alarm: Watch | None = None
        self._now: _Standstill | None = None
        self._looked = self._computed = 0.0
        self._clock = _clock_of(self._thread_id)
        self._arming = threading.Lock()
        self._trace_before: Any = None
        self._wake = threading.Event()
        self._is_idle = self._is_parked = False
        self._stop_noting_idleness: Callable[[], None] = lambda: None

    def join(self, watched: Watched) -> Callable[[], None]:
        """Watch for a session; return a function that ends this."""
        self._joined.append(watched)
        if self._thread is None:
            self._begin()

        def leave() -> None:
            if watched in self._joined:
                self._joined.remove(watched)
                if not self._joined:
                    self._end()

        return leave

    def _begin(self) -> None:
        interrupter = Interrupter.current()
        self._alarm = interrupter.watch(self._on_alarm) if interrupter is not None else None
        if self._alarm is not None:
            self._alarm.rearm(_ALARM_SECONDS)  # code may block before the thread's first look
        self._ended, self._wake = threading.Event(), threading.Event()
        self._looked, self._computed, self._now = time.monotonic(), self._thread_time(), None
        self._note_idleness()
        arguments = [self._ended, self._wake]
        self._thread = threading.Thread(target=self._run, args=arguments, name="pi-loop-watch", daemon=True)
        self._thread.start()

    def _end(self) -> None:
        with self._arming:
            self._ended.set()
        self._stop_noting_idleness()
        self._wake.set()
        self._thread = None
        if self._alarm is not None:
            self._alarm.stop()
            self._alarm = None

    def _note_idleness(self) -> None:
        """Note while the loop waits for long, in loops with a selector: the thread then need not look at all."""
        selector: Any = getattr(self._loop, "_selector", None)
        select = getattr(selector, "select", None)
        if select is None:
            return

        def noting_select(timeout: float | None = None) -> Any:
            if timeout is not None and timeout < _IDLE_SECONDS:
                return select(timeout)
            self._is_idle = True
            try:
                return select(timeout)
            finally:
                self._is_idle = False
                if self._is_parked:
                    self._unpark()

        def stop() -> None:
            self._is_idle = False
            selector.__dict__.pop("select", None)

        selector.select = noting_select
        self._stop_noting_idleness = stop

    def _park(self, ended: threading.Event, wake: threading.Event) -> None:
        """Wait in the thread until the loop runs again, without an alarm."""
        self._set_alarm(float("inf"), ended)
        wake.clear()
        self._is_parked = True
        if not self._is_idle:  # it has begun to run before it could know
            self._is_parked = False
            self._set_alarm(_ALARM_SECONDS, ended)
            return
        while not wake.wait(_PARKED_SECONDS) and not ended.is_set() and not self._loop.is_closed():
            pass

    def _unpark(self) -> None:
        """Let the thread look again; called by the loop's thread."""
        self._is_parked = False
        self._looked, self._computed = time.monotonic(), self._thread_time()
        if self._alarm is not None:
            self._alarm.rearm(_ALARM_SECONDS)
        self._wake.set()

    def _run(self, ended: threading.Event, wake: threading.Event) -> None:
        pause = _IDLE_SECONDS
        while not ended.wait(pause):
            if self._loop.is_closed():  # the session was left behind
                self._set_alarm(float("inf"), ended)
                break
            self._look()
            pause = _IDLE_SECONDS if self._now is None else _BLOCKED_SECONDS
            now = self._now
            if now is None or now.interrupted_at is None:
                self._set_alarm(_ALARM_SECONDS, ended)
            elif not now.is_signalled:  # from then on the handler sets the timer
                now.is_signalled = True
                self._set_alarm(0, ended)
            if now is None and self._is_idle:
                self._park(ended, wake)

    def _set_alarm(self, seconds: float, ended: threading.Event) -> None:
        """Set the timer, unless the loop's thread has given the signal back: the alarm would then end the process."""
        with self._arming:
            if self._alarm is not None and not ended.is_set():
                self._alarm.rearm_elsewhere(seconds)

    def _on_alarm(self, frame: FrameType | None) -> BaseException | float:
        """Look instead of the thread; return the exception to raise in the frame, or the seconds until the next."""
        if self._now is None or self._now.interrupted_at is None:
            self._look(frame)
        now = self._now
        if now is not None and now.interrupted_at is not None:
            now.is_signalled = True
            return self._interruption(now, frame)
        return _BLOCKED_SECONDS if now is not None else _ALARM_SECONDS

    def _thread_time(self) -> float:
        """Return the processor time of the loop's thread in seconds; 0 if it has ended, or has no clock."""
        with suppress(OSError):
            return time.clock_gettime(self._clock) if self._clock is not None else 0.0
        return 0.0

    # Looking

    def _look(self, frame: FrameType | None = None) -> None:
        """Look at the stack, which an alarm knows; do nothing while another thread looks."""
        if not self._looking.acquire(blocking=False):
            return
        try:
            with suppress(Exception):  # a look must not raise in the code that an alarm interrupted
                stacks = sys._current_frames() if frame is None else {}  # noqa: SLF001 - documented, and the only way
                self._compare(frame or stacks.get(self._thread_id))
        finally:
            self._looking.release()

    def _compare(self, frame: FrameType | None) -> None:
        """Compare the stack with the one of the last look."""
        now, computed = time.monotonic(), self._thread_time()
        # Time in which the process was suspended does not count; time in which it computed always does.
        burned, is_late = computed - self._computed, now - self._looked >= _ALARM_SECONDS
        passed = max(min(now - self._looked, _ALARM_SECONDS), burned)
        self._looked, self._computed = now, computed
        callback = _callback_of(frame)
        known = self._now
        if frame is None or callback is None:
            self._over()
            return
        found = self._standstill(frame, callback)
        if known is None or known.callback is not callback or known.plugin != found.plugin:
            self._over()
            self._now = found
            if not is_late or burned < _ALARM_SECONDS / 2:
                return
            found.seconds = burned  # in C code, which no thread could look at
        else:
            known.seconds += passed
            known.place, known.is_importing, known.is_debugging = found.place, found.is_importing, found.is_debugging
            if known.interrupted_at is None:
                known.boundary, known.is_owned = found.boundary, found.is_owned
        self._judge(self._now or found)

    def _standstill(self, frame: FrameType, callback: FrameType) -> _Standstill:
        context: Context | None = getattr(callback.f_locals.get("self"), "_context", None)
        acting = acting_plugin(context) if context is not None else None
        plugin, at, boundary, is_owned = None, frame, callback, False
        for inner in frames_outwards(frame, callback):
            found = self._plugin_of(inner, acting)
            if found is not None:
                boundary, is_called = self._boundary(inner, callback, found)
                if is_called or not self._is_program(inner):
                    plugin, at, is_owned = found, inner, True
                    break
        else:
            engine = next((each for each in frames_outwards(frame, callback) if self._is_pi(each)), None)
            boundary = engine or callback
            if engine is None:
                plugin = acting  # a library runs a callback in a task of a plugin
            elif context is not None and engine is not frame:
                plugin = calling_plugin(context)  # a function that the plugin has from elsewhere
        frames = list(frames_outwards(frame, boundary))
        return _Standstill(
            callback=callback,
            plugin=plugin,
            boundary=boundary,
            is_owned=is_owned,
            place=_place(at),
            is_importing=any(each.f_code.co_filename.startswith("<frozen importlib") for each in frames),
            is_debugging=any(top_package(each) in _DEBUGGERS for each in frames),
        )

    def _boundary(self, frame: FrameType, callback: FrameType, plugin: str) -> tuple[FrameType, bool]:
        """Return the frame that has called the plugin's code, and whether it is pi's."""
        for outer in frames_outwards(frame.f_back, callback):
            others = self._plugins_of(outer)
            if self._is_pi(outer) or (others and plugin not in others):
                return outer, True
        return callback, False

    def _plugins_of(self, frame: FrameType) -> list[str]:
        return next((found for each in self._owners if (found := each.plugins_of(frame))), [])

    def _plugin_of(self, frame: FrameType, acting: str | None) -> str | None:
        found = self._plugins_of(frame)
        if not found or self._is_pi(frame):
            return None
        return acting if acting in found else found[0]

    def _is_pi(self, frame: FrameType) -> bool:
        return any(each.is_pi(frame) for each in self._owners)

    def _is_program(self, frame: FrameType) -> bool:
        return all(each.is_program(frame) for each in self._owners)

    @property
    def _owners(self) -> list[Owners]:
        return [each.owners for each in self._joined if each.owners is not None]

    # Naming

    def _judge(self, now: _Standstill) -> None:
        """Name code that has blocked the loop for long, and interrupt it if it is time or the user wants it."""
        if now.seconds < BLOCKING_SECONDS:
            return
        limit = self._limit(now)
        display = _displays[-1] if _displays else None
        if display is not None:
            pressed = display.interrupts()
            changes = not now.is_named or pressed or int(now.seconds) != int(now.seconds - _BLOCKED_SECONDS)
            now.interrupts += pressed
            if changes:
                display.show(self._block(now, limit), self._hint(now))
        now.is_named = True
        if now.interrupts > 1 and (now.plugin is None or self._alarm is None or now.interrupts > 3):  # noqa: PLR2004
            if display is not None:
                display.leave()
        elif now.interrupted_at is None and (now.interrupts > 1 or (limit is not None and now.seconds >= limit)):
            self._interrupt(now)

    def _limit(self, now: _Standstill) -> float | None:
        if now.plugin is None or now.is_debugging or self._alarm is None:
            return None
        limit = min((each.block_seconds for each in self._joined), default=float("inf"))
        return max(limit, _IMPORT_SECONDS) if now.is_importing else limit

    def _hint(self, now: _Standstill) -> str:
        if now.plugin is None or self._alarm is None:
            return "Ctrl+C twice ends pi" if not now.interrupts else "Ctrl+C again ends pi"
        if now.interrupted_at is not None:
            return "it was interrupted, and continues; Ctrl+C twice more ends pi"
        return "Ctrl+C again interrupts it" if now.interrupts else "Ctrl+C twice interrupts it"

    def _block(self, now: _Standstill, limit: float | None = None) -> Block:
        return Block(plugin=now.plugin, place=now.place, seconds=now.seconds, limit=limit)

    def _over(self) -> None:
        """Note that the callback has returned."""
        now, self._now = self._now, None
        if now is None or not now.is_named:
            return
        for display in _displays[-1:]:
            display.end()
        if now.interrupted_at is None:
            self._soon("blocked", self._block(now))

    def _soon(self, method: str, block: Block) -> None:
        for each in tuple(self._joined):
            with suppress(RuntimeError):  # the loop was closed
                self._loop.call_soon_threadsafe(getattr(each, method), block)

    # Interrupting

    def _interrupt(self, now: _Standstill) -> None:
        now.interrupted_at = now.seconds
        self._soon("interrupted", self._block(now))

    def _interruption(self, now: _Standstill, frame: FrameType | None) -> BaseException | float:
        """Return the exception to raise in a frame; end the interruption if the plugin's code has been left."""
        if frame is not None and frame.f_code is LoopWatch._trace.__code__:
            return _TRACE_SECONDS
        if not self._is_inside(now, frame):
            self._stop_tracing()
            if not self._looking.acquire(blocking=False):  # the thread may look at what has just ended
                return _BLOCKED_SECONDS
            self._over()
            self._looked, self._computed = time.monotonic(), self._thread_time()
            self._looking.release()
            return _ALARM_SECONDS
        inside = list(frames_outwards(frame, now.boundary))
        call = current_call.get()
        is_own = call is not None and not call.ended and call.task is asyncio.current_task()
        if call is not None and is_own and call.implementation.plugin == now.plugin:
            call.blocked = _blocked(now)
        self._start_tracing(each for each in inside if not self._is_pi(each))
        insists = now.seconds > (now.interrupted_at or 0.0) + _INSIST_SECONDS
        now.seconds += 0.0 if insists else _BLOCKED_SECONDS
        if self._is_pi(inside[0]) and not insists:
            return _BLOCKED_SECONDS  # not inside the engine's own work; the trace raises when that returns
        return LoopBlocked(_blocked(now))

    def _start_tracing(self, frames: Iterator[FrameType]) -> None:
        before = sys.gettrace()
        if getattr(before, "__func__", None) is not LoopWatch._trace:
            self._trace_before = before
        for each in frames:
            each.f_trace = self._trace
        sys.settrace(self._trace)

    def _stop_tracing(self) -> None:
        if getattr(sys.gettrace(), "__func__", None) is LoopWatch._trace:
            sys.settrace(self._trace_before)

    def _trace(self, frame: FrameType, event: str, _argument: object) -> Any:
        """Raise at each line of the plugin's code. Python ends a trace that raises, so the alarm starts it again."""
        now, alarm = self._now, self._alarm
        if now is None or alarm is None or not self._is_inside(now, frame):
            self._stop_tracing()
            return None
        if event == "line" and now.plugin in self._plugins_of(frame):
            alarm.rearm(_TRACE_SECONDS)
            raise LoopBlocked(_blocked(now))
        return self._trace

    def _is_inside(self, now: _Standstill, frame: FrameType | None) -> bool:
        """Whether a frame was called by the code that is interrupted, or is a part of it."""
        inside = list(frames_outwards(frame, now.boundary))
        if now.interrupted_at is None or not inside or inside[-1].f_back is not now.boundary:
            return False
        return not now.is_owned or any(now.plugin in self._plugins_of(each) for each in inside)


def _blocked(now: _Standstill) -> str:
    return f"blocked the event loop for {now.seconds:.1f} s in {now.place}"


def _callback_of(frame: FrameType | None) -> FrameType | None:
    """Return the frame of the callback that the event loop runs; None if it waits for events, or does not run."""
    return next((each for each in frames_outwards(frame) if each.f_code is _CALLBACK), None)


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_qualname} ({frame.f_code.co_filename}, line {frame.f_lineno})"


def _clock_of(thread_id: int) -> int | None:
    """Return the processor clock of a running thread; None where threads have no such clock."""
    try:
        return time.pthread_getcpuclockid(thread_id)
    except (AttributeError, OSError):
        return None
