"""Background processes that plugins and tools manage (``ctx.processes``); they end with their session."""

from __future__ import annotations

import asyncio
import codecs
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pi_hookspecs import Activity, ActivityItem
from pi_hookspecs.errors import PiError, UnknownName
from pi_hookspecs.processes import ProcessOutput
from pi_process_kit import ProcessFailure, prepare, start_child
from pi_tools.commands.shell import arguments_for, environment, find_shell
from pi_tools.settings import setting
from pi_tools.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pi_hookspecs import PiContext, ProcessStatus
    from pi_process_kit import Child

__all__ = ["SessionProcesses", "end_session"]

KEPT = 1 << 20
"""Characters of a process's output that can still be read."""
STOP_GRACE = 0.5
"""Seconds between closing its standard input, SIGTERM and SIGKILL: the end of a session waits for it."""
_READ = 1 << 16

_started: dict[str, dict[str, Managed]] = {}
"""The processes of each session by their ids, in the order of their start."""
_watches: set[asyncio.Task[None]] = set()


class Managed:
    """Implements ``ManagedProcess`` over a supervised child whose output is read as it comes."""

    def __init__(self, child: Child, name: str, command: str) -> None:
        self.id = uuid4().hex[:8]
        self.name = name
        self.command = command
        self._child = child
        self._text = ""
        self._dropped = 0
        self._stopped = False
        self._reading = asyncio.create_task(self._read_on())

    async def _read_on(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := await self._child.stdout.read(_READ):
            self._append(decoder.decode(chunk))
        self._append(decoder.decode(b"", final=True))

    def _append(self, text: str) -> None:
        self._text += text
        if len(self._text) > 2 * KEPT:
            self._dropped += len(self._text) - KEPT
            self._text = self._text[-KEPT:]

    @property
    def status(self) -> ProcessStatus:
        """Whether it runs, or how it ended."""
        if self._stopped:
            return "stopped"
        return "running" if self._child.exit_code is None else "exited"

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._child.exit_code

    def read(self, since: int = 0) -> ProcessOutput:
        """Return the output from a place on."""
        end = self._dropped + len(self._text)
        first = min(max(since, self._dropped, end - KEPT), end)
        return ProcessOutput(self._text[first - self._dropped :], end, lost=max(first - max(since, 0), 0))

    async def write(self, text: str) -> None:
        """Write to its standard input."""
        try:
            if self._child.exit_code is None and not self._child.stdin.is_closing():
                self._child.stdin.write(text.encode())
                await self._child.stdin.drain()
                return
        except ConnectionError:
            pass
        state = "takes no more input" if self._child.exit_code is None else f"has ended ({self._child.exit_code})"
        message = f"Process {self.id} ({self.name}) {state}. Start it again to write to it."
        raise ProcessFailure(message)

    async def wait(self) -> int:
        """Return the exit code when the output was read, too."""
        code = await self._child.wait()
        await asyncio.wait({self._reading}, timeout=0.5)  # what it has left running may hold the pipe
        return code

    async def stop(self) -> None:
        """End it and everything that it started."""
        if self._child.exit_code is None:
            self._stopped = True
        await self._child.stop(STOP_GRACE)
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading


class SessionProcesses:
    """Implements ``Processes`` for the session of a context."""

    def __init__(self, ctx: PiContext) -> None:
        self._ctx = ctx

    @property
    def _mine(self) -> dict[str, Managed]:
        return _started.setdefault(self._ctx.session.id, {})  # another conversation may be open now

    async def start(
        self,
        command: str | Sequence[str],
        *,
        name: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Managed:
        """Start a process, after the plugins were asked."""
        if isinstance(command, str):
            arguments, script = arguments_for(["-c"], command, takes_input=True)
            text, argv = command, [find_shell(setting(self._ctx, "shellPath")), *arguments]
        else:
            argv, script = [*command], b""
            text = shlex.join(argv)
        variables = {**environment(self._ctx), **(env or {})}
        request = await prepare(self._ctx, argv, purpose="process", cwd=cwd, env=variables)
        child = await start_child(request, stderr="stdout")
        if script:
            child.stdin.write(script)
        process = Managed(child, name or text, text)
        self._mine[process.id] = process
        show(self._ctx, self._mine)
        watch = asyncio.create_task(self._show_end(process))
        _watches.add(watch)
        watch.add_done_callback(_watches.discard)
        return process

    async def _show_end(self, process: Managed) -> None:
        mine = self._mine
        await process.wait()
        with suppress(PiError):  # the session may have ended, or be another one
            if self._mine is mine:
                show(self._ctx, mine)

    def list(self) -> Sequence[Managed]:
        """Return all processes of the session."""
        return list(self._mine.values())

    def get(self, process_id: str) -> Managed:
        """Return a process by its id."""
        if process_id not in self._mine:
            raise UnknownName("process", process_id, self._mine)
        return self._mine[process_id]


def show(ctx: PiContext, processes: Mapping[str, Managed]) -> None:
    """Display the processes that run, in the strip above the editor."""
    running = [each for each in processes.values() if each.status == "running"]
    items = [
        ActivityItem(f"{each.id}  {clean(each.name)}", open=f"/processes {each.id}", stop=f"/processes stop {each.id}")
        for each in running
    ]
    label = f"{len(running)} {'process' if len(running) == 1 else 'processes'}"
    ctx.ui.set_activity("processes", Activity(label, items=items) if running else None)


async def end_session(session: str, ui: Any = None) -> None:
    """End the processes of a session, and notify the user of those that still ran."""
    mine = [*_started.pop(session, {}).values()]
    running = [each for each in mine if each.status == "running"]
    await asyncio.gather(*(each.stop() for each in mine))
    if running and ui is not None:
        names = "; ".join(f"{each.id} {each.name}" for each in running)
        count = "1 managed process" if len(running) == 1 else f"{len(running)} managed processes"
        ui.set_activity("processes", None)
        ui.notify(f"Ended {count}: {names}.", "info")
