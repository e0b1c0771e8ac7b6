"""The one process of a session that waits for the next script, so that a script does not wait for an interpreter."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from pi_hookspecs import PiError

if TYPE_CHECKING:
    from pi_codemode.script_process import ScriptProcess
    from pi_hookspecs import PiContext

__all__ = ["WarmProcess"]


class WarmProcess:
    """Starts processes for scripts: at most one waits, and each runs one script."""

    def __init__(self) -> None:
        self._starting: asyncio.Task[ScriptProcess] | None = None

    def prepare(self, ctx: PiContext) -> None:
        """Start a process if none waits; how that fails is reported by the script that needs it."""
        if self._starting is None or (self._starting.done() and not self._is_usable()):
            self._starting = asyncio.get_running_loop().create_task(_started(ctx))
            self._starting.add_done_callback(_retrieved)

    async def take(self, ctx: PiContext) -> ScriptProcess:
        """Return a process that waits for a script; it belongs to the caller.

        Raises:
            PiError: A plugin refused to start it, or it cannot be started.
        """
        starting, self._starting = self._starting, None
        if starting is not None:
            with suppress(PiError):
                process = await starting
                if process.is_alive:
                    return process
        return await _started(ctx)

    async def close(self) -> None:
        """End the process that waits."""
        starting, self._starting = self._starting, None
        if starting is None:
            return
        starting.cancel()
        await asyncio.wait({starting})
        if not starting.cancelled() and starting.exception() is None:
            starting.result().kill()

    def _is_usable(self) -> bool:
        assert self._starting is not None  # noqa: S101 - asked by the caller
        done = self._starting
        return not done.cancelled() and done.exception() is None and done.result().is_alive


async def _started(ctx: PiContext) -> ScriptProcess:
    from pi_codemode.script_process import start_process

    return await start_process(ctx)


def _retrieved(task: asyncio.Task[ScriptProcess]) -> None:
    if not task.cancelled():
        task.exception()
