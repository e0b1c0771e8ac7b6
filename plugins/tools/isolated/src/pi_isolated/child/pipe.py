"""Lines of JSON between this process and pi; a thread takes the results of calls, which may be awaited or not."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, Any

from pi_core import dumps
from pi_hookspecs import PiError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Pipe"]


class Pipe:
    """The pipes of this process. What the plugin prints goes to standard error: standard output is the protocol's."""

    def __init__(self) -> None:
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._calls: dict[int, Future[Any]] = {}

    def send(self, **message: Any) -> None:
        """Write a message."""
        line = memoryview(dumps(message) + b"\n")
        with self._lock:
            while line:
                line = line[os.write(self._out, line) :]

    def call(self, ctx: str, method: str, params: Mapping[str, Any]) -> Future[Any]:
        """Call a member of ``ctx``; the future has its value."""
        number = next(self._numbers)
        self._calls[number] = future = Future[Any]()
        self.send(type="call", id=number, ctx=ctx, method=method, params=params)
        return future

    def listen(self, take: Callable[[dict[str, Any]], object], end: Callable[[], object]) -> None:
        """Read in a thread; ``take`` gets what is not a result, and ``end`` is called after the last message."""
        threading.Thread(target=self._read, args=(take, end), name="pi", daemon=True).start()

    def _read(self, take: Callable[[dict[str, Any]], object], end: Callable[[], object]) -> None:
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                if line.isspace():  # pi ended after it had woken this process
                    continue
                message = json.loads(line)
                if message["type"] == "result":
                    self._settle(message)
                else:
                    take(message)
        end()

    def _settle(self, message: Mapping[str, Any]) -> None:
        future = self._calls.pop(message["id"])
        if future.cancelled():
            return
        if "error" in message:
            future.set_exception(PiError(message["error"]))
        else:
            future.set_result(message.get("value"))
