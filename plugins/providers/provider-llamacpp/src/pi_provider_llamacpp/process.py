"""pi's end of a model's process: starts it, sends requests, and passes the lines of each answer to its caller.

The process is pi's own program, so no ``Launcher`` is asked about it. It ends with pi, however that ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from pi_process_kit import Child
    from pi_provider_llamacpp.finding import Found

__all__ = ["ENGINE", "ModelProcess"]

ENGINE = (sys.executable, "-m", "pi_provider_llamacpp.engine")
_KEPT = ("HOME", "LANG", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TMPDIR", "USER")
_KEPT_OF = ("CUDA_", "GGML_", "GPU_", "HIP_", "HSA_", "LLAMA_", "OMP_", "ROCR_", "VK_")
"""What it gets of the environment: nothing that may be a key."""
_CHUNK = 1 << 18
_LAST_LINES = 20
_LOG_SECONDS = 1.0
_CANCEL_GRACE = 2.0
"""Seconds after which a process that does not notice that a request was aborted is ended: it reads a long prompt."""


class ModelProcess:
    """The process of one model.

    Attributes:
        found: The model's file.
        context: Tokens of its window.
        asked: Requests that are being answered.
    """

    def __init__(self, found: Found, context: int) -> None:
        self.found = found
        self.context = context
        self._answers: dict[int, asyncio.Queue[dict[str, Any] | None]] = {}
        self._number = 0
        self._failed = ""
        self._child: Child | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._log: deque[str] = deque(maxlen=_LAST_LINES)

    @property
    def asked(self) -> int:
        """How many requests are being answered."""
        return len(self._answers)

    @property
    def pid(self) -> int | None:
        """The process; None while there is none."""
        return self._child.pid if self._child is not None else None

    @property
    def alive(self) -> bool:
        """Whether it runs, and can be asked."""
        return self._child is not None and self._child.exit_code is None

    async def load(self, engine: Sequence[str] = ENGINE) -> None:
        """Start the process, and return when the model is loaded.

        Raises:
            UserError: It cannot be loaded; the message says why.
        """
        from pi_hookspecs import SpawnRequest
        from pi_process_kit import ProcessFailure, start_child

        kept = {name: value for name, value in os.environ.items() if name in _KEPT or name.startswith(_KEPT_OF)}
        # Threads that wait leave the cores to tools: 40 % less processor time.
        env = {"OMP_WAIT_POLICY": "passive", **kept}
        request = SpawnRequest(argv=engine, cwd=os.getcwd(), env=env, purpose="model")  # noqa: PTH109 - a text
        try:
            child = self._child = await start_child(request)
        except ProcessFailure as error:
            raise UserError(f"The process for the model {self.found.id!r} cannot be started: {error}") from error
        self._tasks = [asyncio.create_task(self._read(child)), asyncio.create_task(self._read_log(child))]
        facts = {"path": str(self.found.path), "size": self.found.size, "context": self.context}
        await self._send({"load": facts})
        await self._ready

    async def ask(self, payload: Any) -> AsyncGenerator[dict[str, Any]]:
        """Yield the chunks of an answer; closing the generator aborts it.

        Raises:
            RequestFailed: The process ended.
        """
        self._number += 1
        number, chunks = self._number, asyncio.Queue[dict[str, Any] | None]()
        self._answers[number] = chunks
        over = False
        try:
            await self._send({"ask": number, "payload": payload})
            while (chunk := await chunks.get()) is not None:
                yield chunk
            over = True
            if not self.alive:
                raise RequestFailed(self._ending())
        finally:
            if over or not self.alive:
                self._answers.pop(number, None)
            else:
                await self._cancel(number)

    async def stop(self) -> None:
        """End the process, and take its memory back."""
        child = self._child
        if child is not None:
            await child.stop(grace=1)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _send(self, line: dict[str, Any]) -> None:
        assert self._child is not None, "load"  # noqa: S101 - called before
        with suppress(OSError, RuntimeError):  # it ended, which its reader notices
            self._child.stdin.write(json.dumps(line).encode() + b"\n")
            await self._child.stdin.drain()

    async def _cancel(self, number: int) -> None:
        """Abort a request, in the background: the process is ended where it takes no notice."""
        await self._send({"cancel": number})
        asyncio.get_running_loop().call_later(_CANCEL_GRACE, self._insist, number)

    def _insist(self, number: int) -> None:
        if number in self._answers and self._child is not None:
            self._child.kill()

    async def _read(self, child: Child) -> None:
        pieces: list[bytes] = []
        try:
            while piece := await child.stdout.read(_CHUNK):
                *lines, rest = piece.split(b"\n")
                for line in lines:
                    self._take(json.loads(b"".join([*pieces, line])))
                    pieces = []
                pieces.append(rest)
            await child.wait()
        finally:
            child.kill()
            if not self._ready.done():
                await asyncio.wait(self._tasks[1:], timeout=_LOG_SECONDS)  # its last words may be on their way
                self._ready.set_exception(UserError(self._failure() or self._ending()))
                self._ready.exception()  # the waiting task may have been cancelled
            for chunks in self._answers.values():
                chunks.put_nowait(None)
            child.close()

    def _take(self, line: dict[str, Any]) -> None:
        if "ready" in line:
            self._ready.set_result(None)
        elif "failed" in line:
            self._failed = line["failed"]  # reported when the process has ended, with the output of llama.cpp
        elif (chunks := self._answers.get(line["id"])) is not None:
            if "end" in line:
                del self._answers[line["id"]]
                chunks.put_nowait(None)
            else:
                chunks.put_nowait(line["chunk"])

    async def _read_log(self, child: Child) -> None:
        """Keep the last lines that llama.cpp prints, for the case that it ends."""
        assert child.stderr is not None, "a pipe"  # noqa: S101 - as it was started
        rest = b""
        while piece := await child.stderr.read(_CHUNK):
            *lines, rest = (rest + piece)[-_CHUNK:].split(b"\n")
            self._log.extend(line.decode("utf-8", "replace").strip() for line in lines)

    def _failure(self) -> str:
        """Return why the model could not be loaded; empty if the process has not reported anything."""
        reason = next((words for line in self._log if (words := line.partition("error loading model: ")[2])), "")
        return (
            f"{self._failed}: {reason}. Download it again, or use another" if reason and self._failed else self._failed
        )

    def _ending(self) -> str:
        """Return how the process ended."""
        child = self._child
        code = child.exit_code if child is not None else None
        how = f"with exit code {code}"
        if code is not None and code > 128:  # noqa: PLR2004 - 128+n after signal n
            with suppress(ValueError):
                how = f"by the signal {signal.Signals(code - 128).name}"
        last = next((line for line in reversed(self._log) if line), "")
        output = f"; its last output: {last}" if last else ""
        return f"The process of the model {self.found.id!r} ended {how}{output}. Send the prompt again to restart it"
