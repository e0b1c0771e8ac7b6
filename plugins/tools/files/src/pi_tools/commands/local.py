"""Commands on this machine: started in a container process, ended with all descendants."""

from __future__ import annotations

import asyncio
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import Aborted
from pi_process_kit import KILL_WAIT, Pump, output_pipe, starter
from pi_tools.commands.shell import arguments_for, find_shell
from pi_tools.failure import ToolFailure, system_failure
from pi_tools.threads import finish
from pi_tools.workspace import StartPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pi_hookspecs.abort import AbortSignal
    from pi_process_kit import Process, Starter

__all__ = ["CommandTimeout", "LocalBashOperations"]


class LocalBashOperations:
    """``bash`` on this machine.

    Args:
        shell_path: The shell; None looks for bash.
        shell_arguments: Its arguments before the command.
        keep_background: As in ``BashOptions``.
        session: Id of the session that owns the background processes.
        start: Starts the programs; None for the default of this machine.
        start_policy: What plugins want done before a program is started; None for nothing.
    """

    def __init__(
        self,
        *,
        shell_path: str | None = None,
        shell_arguments: Sequence[str] = ("-c",),
        keep_background: bool | None = None,
        session: str = "",
        start: Starter | None = None,
        start_policy: StartPolicy | None = None,
    ) -> None:
        self._shell_path = shell_path
        self._arguments = tuple(shell_arguments)
        self._keep = keep_background
        self._session = session
        self._start = start
        self._policy = start_policy or StartPolicy(None, "bash")

    async def exec(
        self,
        command: str,
        cwd: str,
        *,
        on_data: Callable[[bytes], None],
        signal: AbortSignal,
        timeout: float | None,  # noqa: ASYNC109 - ends a command, not a coroutine
        env: Mapping[str, str],
    ) -> int | None:
        """Run the command; see ``BashOperations``."""
        shell = find_shell(self._shell_path)
        try:
            out, into = output_pipe()
        except OSError as error:
            raise system_failure(error, "pipe") from error
        process: Process | None = None
        try:
            arguments, data = arguments_for(self._arguments, command)
            with _input(data) as source:
                process = await self._launch([shell, *arguments], cwd, env, out=out, into=into, source=source)
            os.close(into)
            into = -1
            return await self._attend(process, _pump(out, on_data), signal, timeout)
        finally:
            if process is not None and not process.exited.done():
                process.kill()
            if into >= 0:
                os.close(into)
            os.close(out)

    async def _launch(
        self, argv: list[str], cwd: str, env: Mapping[str, str], *, out: int, into: int, source: int | None
    ) -> Process:
        start = self._start or starter()
        try:
            request = await self._policy.prepare(argv, cwd, env)
            cwd, argv = request.cwd, [*request.argv]
            return await start.launch(argv, cwd, request.env, out=into, error=into, drain=out, stdin=source)
        except OSError as error:
            if not await finish(os.path.isdir, cwd):
                raise _missing(cwd) from error
            raise system_failure(error, "spawn", argv[0]) from error

    async def _attend(self, process: Process, pump: Pump, signal: AbortSignal, seconds: float | None) -> int:
        """Wait for the exit, an abort or a timeout, then for the output."""
        pump.start()
        try:
            why = await _first_of(process, signal, seconds)
            running = _running(process) if why == "timeout" else []
            if why is not None:
                process.kill()
                await process.ended()
        finally:
            if not process.exited.done():
                process.kill()
            pump.finish()
            await _over(pump)
        pump.done.result()
        if why == "timeout":
            raise CommandTimeout(running)
        if why == "abort":
            raise Aborted(signal.reason or "")
        code, left = process.exited.result()
        if left:
            await self._leave(process)
        return code

    async def _leave(self, process: Process) -> None:
        """End or keep the processes that the command left running."""
        if process.gone.done():
            return
        if self._keep is False:
            process.kill()
            await process.ended()
            return
        from pi_tools.commands.background import keep

        if self._keep:
            process.release()
            process.drain()
        else:
            keep(self._session, process)


class CommandTimeout(TimeoutError):
    """The command took too long.

    Attributes:
        running: The command lines of what it had started and still ran when it was ended.
    """

    def __init__(self, running: Sequence[str]) -> None:
        super().__init__()
        self.running = running


def _running(process: Process) -> list[str]:
    """Return the command lines of what runs, without the shell and its copies for parts of the command."""
    lines = {pid: line for pid, _, line in (each.partition(" ") for each in process.left())}
    shell = lines.get(str(process.pid))
    return [line for line in lines.values() if line != shell]


@contextmanager
def _input(data: bytes) -> Iterator[int | None]:
    """Open a file with some bytes as standard input; None for no bytes."""
    if not data:
        yield None
        return
    import tempfile

    try:
        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.seek(0)
            yield file.fileno()
    except OSError as error:
        raise system_failure(error, "open", tempfile.gettempdir()) from error


def _pump(out: int, on_data: Callable[[bytes], None]) -> Pump:
    try:
        return Pump(out, on_data)
    except OSError as error:
        raise system_failure(error, "pipe") from error


def _missing(cwd: str) -> ToolFailure:
    return ToolFailure(f"Working directory does not exist: {cwd}\nCannot execute bash commands.")


async def _first_of(process: Process, signal: AbortSignal, seconds: float | None) -> str | None:
    """Return ``abort`` or ``timeout``, or None when the command ended by itself."""
    aborted = asyncio.Event()
    forget = signal.on_abort(aborted.set)
    waiting = asyncio.ensure_future(aborted.wait())
    try:
        ends: set[asyncio.Future[Any]] = {process.exited, waiting}
        await asyncio.wait(ends, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        forget()
        waiting.cancel()
    if process.exited.done():
        return None
    return "abort" if signal.aborted else "timeout"


async def _over(pump: Pump) -> None:
    """Wait for the pump, even while being cancelled: its descriptor is about to be closed."""
    try:
        await asyncio.wait({pump.done}, timeout=KILL_WAIT)
    except asyncio.CancelledError:
        await asyncio.wait({pump.done}, timeout=KILL_WAIT)
        raise
