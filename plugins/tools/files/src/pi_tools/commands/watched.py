"""Background processes as the model sees them: started by ``bash``, read piece by piece, awaited by a pattern."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from attrs import define, evolve

from pi_hookspecs.errors import UnknownName
from pi_hookspecs.tools import ToolResult
from pi_tools.commands.overwriting import collapse
from pi_tools.failure import ToolFailure
from pi_tools.text import clean
from pi_tools.truncate import truncate_tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs import ManagedProcess
    from pi_hookspecs.abort import AbortSignal

__all__ = ["find", "list_all", "read", "start", "stop", "summary", "wait"]

FIRST_OUTPUT = 1.0
"""Seconds for which a start waits for output: a command that fails at once is reported at once."""
MORE_OUTPUT = 0.1
"""Seconds for which it waits for more."""
TIMEOUT = 30.0
LONGEST_TIMEOUT = 3600.0
LONGEST_LINE = 2000
"""Characters of a line that a pattern is compared with."""
LONGEST_SEARCH = 0.5
"""Seconds of one look through new output, in which pi does nothing else; a pattern that backtracks could take years."""
_LOOK_EVERY = 0.05


@define(eq=False)
class _Place:
    """How far the model has come.

    Attributes:
        read: Where the next output begins.
        awaited: Where the next pattern is looked for.
        started: When the process was first seen, by the monotonic clock.
    """

    read: int
    awaited: int
    started: float


_places: WeakKeyDictionary[ManagedProcess, _Place] = WeakKeyDictionary()


def _place(process: ManagedProcess) -> _Place:
    if process not in _places:
        _places[process] = _Place(0, 0, time.monotonic())
    return _places[process]


async def start(ctx: Any, command: str, name: str, signal: AbortSignal) -> ToolResult:
    """Start a command in the background, and return what it printed at first.

    Raises:
        PiError: It cannot be started, or a plugin refuses.
    """
    process = await ctx.processes.start(command, name=name)
    _place(process)
    await _until(lambda: process.exit_code is not None or _size(process) > 0, FIRST_OUTPUT, signal)
    await _until(lambda: process.exit_code is not None, MORE_OUTPUT, signal)
    if process.exit_code is not None:
        await process.wait()  # until its output is read, too
    return read(process, "started in the background")


def _size(process: ManagedProcess) -> int:
    """Return the characters of all output so far."""
    return process.read(sys.maxsize).next


def find(ctx: Any, process_id: str) -> ManagedProcess:
    """Return a process of the session.

    Raises:
        ToolFailure: There is none of this id.
    """
    try:
        process: ManagedProcess = ctx.processes.get(process_id.strip().removeprefix("[process").strip(" ]"))
    except UnknownName:
        known = ", ".join(f"{each.id} ({clean(each.name)})" for each in ctx.processes.list())
        raise ToolFailure(
            f"There is no process {process_id!r} in this session. "
            + (f"There are: {known}." if known else "None was started: bash starts one with background.")
        ) from None
    return process


def list_all(ctx: Any) -> ToolResult:
    """Return one line for each process."""
    processes = ctx.processes.list()
    lines = [f"[process {each.id}] {summary(each)}" for each in processes]
    details = {"processes": [_details(each) for each in processes]}
    return ToolResult.text("\n".join(lines) or "No process was started in the background.", details=details)


def summary(process: ManagedProcess) -> str:
    """Return name, state and unread output of a process in words."""
    unread = _size(process) - _place(process).read
    parts = [f"{clean(process.name)}: {_state(process)}"]
    if unread > 0:
        parts.append(f"{unread:,} characters of output not read")
    return ", ".join(parts)


def read(process: ManagedProcess, what: str | None = None) -> ToolResult:
    """Return the output since the last look, at most as much as other tools return."""
    place = _place(process)
    output = process.read(place.read)
    place.read = output.next
    text = collapse(output.text)
    record = truncate_tail(text)
    left_out = output.lost + len(text) - len(record["content"])
    parts = [f"[process {process.id}] {what or summary(process)}"]
    if what is not None:
        parts[0] += f": {summary(process)}"
    if left_out:
        parts.append(f"[{left_out:,} earlier characters left out]")
    parts.append(clean(record["content"]).rstrip("\n") or "(no new output)")
    return ToolResult.text("\n".join(parts), details={**_details(process), "leftOut": left_out})


async def wait(process: ManagedProcess, pattern: str | None, given: float | None, signal: AbortSignal) -> ToolResult:
    """Wait until a line matches, or the process has ended, or the time is over.

    Args:
        process: The process.
        pattern: A regular expression; lines count that no wait has compared before. None waits for the end.
        given: The most seconds to wait; ``TIMEOUT`` when None.
        signal: Ends the wait, not the process.

    Returns:
        The unread output. It is an error that no line matched.

    Raises:
        ToolFailure: The pattern or the time makes no sense, or the user aborted.
    """
    seconds = TIMEOUT if given is None else given
    if not 0 < seconds <= LONGEST_TIMEOUT:
        raise ToolFailure(f"Invalid timeout {given!r}: use more than 0 and at most {LONGEST_TIMEOUT:.0f} seconds.")
    look = _Lines(process, pattern) if pattern else None
    await _until(lambda: process.exit_code is not None or (look is not None and look.found()), seconds, signal)
    if process.exit_code is not None:
        await process.wait()
    if look is not None and look.found():
        return read(process, f"printed {clean(look.line)!r}")
    if look is None and process.exit_code is not None:
        return read(process, "has ended")
    what = f"printed no line that matches {pattern!r}" if look is not None else "has not ended"
    within = "until it ended" if process.exit_code is not None else f"within {seconds:g} seconds"
    result = read(process, f"{what} {within}")
    return result if look is None else evolve(result, is_error=True)


async def stop(process: ManagedProcess) -> ToolResult:
    """End a process, and return its last output."""
    ended = process.exit_code is not None
    await process.stop()
    return read(process, "had ended before" if ended else "stopped")


class _Lines:
    """Looks for a pattern in the lines that no wait has compared yet.

    Raises:
        ToolFailure: The pattern is not a regular expression, or takes too long.
    """

    def __init__(self, process: ManagedProcess, pattern: str) -> None:
        self._process = process
        self._given = pattern
        self._pattern = _compiled(pattern)
        self._rest = ""
        self.line = ""

    def found(self) -> bool:
        """Whether a line matches by now; the last one counts though it may go on."""
        if self.line:
            return True
        place = _place(self._process)
        output = self._process.read(place.awaited)
        place.awaited = output.next
        *lines, self._rest = (self._rest + output.text).split("\n")
        end = time.monotonic() + LONGEST_SEARCH
        for line in (*lines, self._rest):
            if self._matches(line[:LONGEST_LINE], end):
                self.line = line[:LONGEST_LINE].strip() or line
                return True
        self._rest = self._rest[:LONGEST_LINE]
        return False

    def _matches(self, line: str, end: float) -> bool:
        try:
            return self._pattern.search(line, timeout=max(end - time.monotonic(), 0.001)) is not None
        except TimeoutError:
            raise ToolFailure(
                f"The pattern {self._given!r} takes too long to compare with the output; the process keeps running. Use"
                " one without repetitions within repetitions, such as a plain word."
            ) from None


def _compiled(pattern: str) -> Any:
    """Return a pattern whose searches can be given a time limit, which those of ``re`` cannot."""
    import regex

    try:
        return regex.compile(pattern)
    except (regex.error, RecursionError) as error:
        raise ToolFailure(f"The pattern {pattern!r} is not a regular expression: {error}.") from None


async def _until(done: Callable[[], bool], seconds: float, signal: AbortSignal) -> None:
    """Return when it is done, after some seconds, or when the user aborts.

    Raises:
        ToolFailure: The user aborted.
    """
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        if signal.aborted:
            raise ToolFailure("Waiting was aborted; the process keeps running.")
        await asyncio.sleep(_LOOK_EVERY)


def _state(process: ManagedProcess) -> str:
    if process.status == "running":
        return f"running for {_duration(time.monotonic() - _place(process).started)}"
    return "stopped" if process.status == "stopped" else f"exited with code {process.exit_code}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _details(process: ManagedProcess) -> dict[str, Any]:
    return {
        "id": process.id,
        "name": process.name,
        "command": process.command,
        "status": process.status,
        "exitCode": process.exit_code,
    }
