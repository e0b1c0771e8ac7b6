"""The models that are in memory: one process each, started when they are needed, ended when they are not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pi_hookspecs.errors import UserError
from pi_provider_llamacpp.process import ENGINE, ModelProcess

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pi_provider_llamacpp.finding import Found

__all__ = ["LoadedModels", "loaded_models"]

_SHORT_OF_MEMORY = "Not enough memory"


class LoadedModels:
    """The processes of an event loop.

    Args:
        engine: The command that starts one.

    Attributes:
        idle_seconds: How long a model without requests stays.
    """

    def __init__(self, engine: Sequence[str] = ENGINE) -> None:
        self.idle_seconds = 600.0
        self._engine = engine
        self._processes: dict[Path, ModelProcess] = {}
        self._loading: dict[Path, asyncio.Task[ModelProcess]] = {}
        self._timers: dict[Path, asyncio.TimerHandle] = {}
        self._endings: set[asyncio.Task[None]] = set()

    def running(self) -> list[ModelProcess]:
        """Return the processes of models that are loaded."""
        return [each for each in self._processes.values() if each.alive]

    async def process(self, found: Found, context: int) -> ModelProcess:
        """Return the process of a model, which is loaded first where it is not; it stays loaded without requests, too.

        Raises:
            UserError: It cannot be loaded.
        """
        process = self._processes.get(found.path)
        if process is not None and process.alive and process.context == context:
            return process
        task = self._loading.get(found.path)
        if task is None:
            task = self._loading[found.path] = asyncio.create_task(self._load(found, context))
            task.add_done_callback(lambda done: self._on_loaded(found.path, done))
        return await asyncio.shield(task)  # an abort of who waits leaves the model loading, for the next request

    def rest(self, process: ModelProcess) -> None:
        """Begin to count the time without requests of a model; it begins anew where it ends during one."""
        path = process.found.path
        if (timer := self._timers.pop(path, None)) is not None:
            timer.cancel()
        if process.alive:
            loop = asyncio.get_running_loop()
            self._timers[path] = loop.call_later(self.idle_seconds, self._on_idle, path, process)

    async def unload(self, path: Path) -> bool:
        """End the process of a model; return whether there was one."""
        if (timer := self._timers.pop(path, None)) is not None:
            timer.cancel()
        process = self._processes.pop(path, None)
        if process is None:
            return False
        was_alive = process.alive
        await process.stop()
        return was_alive

    async def stop(self) -> None:
        """End all processes."""
        for task in self._loading.values():
            task.cancel()
        await asyncio.gather(*self._loading.values(), return_exceptions=True)
        for path in [*self._processes]:
            await self.unload(path)

    async def _load(self, found: Found, context: int) -> ModelProcess:
        await self.unload(found.path)
        try:
            return await self._started(found, context)
        except UserError as error:
            idle = [each for each in self.running() if not each.asked]
            if not idle or _SHORT_OF_MEMORY not in str(error):
                raise
        for each in idle:  # they make room
            await self.unload(each.found.path)
        return await self._started(found, context)

    async def _started(self, found: Found, context: int) -> ModelProcess:
        process = ModelProcess(found, context)
        try:
            await process.load(self._engine)
        except BaseException:
            await process.stop()
            raise
        self._processes[found.path] = process
        self.rest(process)
        return process

    def _on_loaded(self, path: Path, task: asyncio.Task[ModelProcess]) -> None:
        self._loading.pop(path, None)
        if not task.cancelled():
            task.exception()  # the waiting task may have been cancelled

    def _on_idle(self, path: Path, process: ModelProcess) -> None:
        if self._processes.get(path) is not process:
            return
        if process.asked:
            self.rest(process)
            return
        ending = asyncio.create_task(self._unload_quietly(path))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)

    async def _unload_quietly(self, path: Path) -> None:
        await self.unload(path)


_LOADED: WeakKeyDictionary[asyncio.AbstractEventLoop, LoadedModels] = WeakKeyDictionary()
"""Those of each event loop: a process outlives the sessions and reloads of pi, and belongs to its loop."""


def loaded_models() -> LoadedModels:
    """Return the loaded models of the running event loop; nothing is started."""
    loop = asyncio.get_running_loop()
    found = _LOADED.get(loop)
    if found is None:
        found = _LOADED[loop] = LoadedModels()
    return found
