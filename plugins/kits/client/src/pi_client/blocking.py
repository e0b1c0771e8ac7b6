"""The blocking client: the asynchronous one on an event loop in a thread."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pi_client.client import PiClient
from pi_client.errors import ConnectionLost

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Sequence

    from pi_client.commands import Request
    from pi_client.events import Event
    from pi_client.values import Image

__all__ = ["BlockingPiClient"]

R = TypeVar("R")


class BlockingPiClient:
    """Drives a pi process, blocking: ``with BlockingPiClient("--model", "...") as pi: print(pi.ask("Hello"))``.

    Commands are sent as objects: ``pi.call(commands.GetState())``. ``on_ui`` is called in another thread, and must not
    call pi itself.

    Args:
        arguments: As ``PiClient.start``.
        options: As ``PiClient.start``.
    """

    def __init__(self, *arguments: str, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="pi-client", daemon=True)
        self._thread.start()

        async def start() -> PiClient:
            return await PiClient.start(*arguments, **options)

        try:
            self._client: PiClient = self._wait(start())
        except BaseException:
            self._stop()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, request: Request[R]) -> R:
        """Send a command and return its result; raises as ``PiClient.call``."""
        return self._wait(self._client.call(request))

    def ask(self, message: str, images: Sequence[Image] = ()) -> str:
        """Send a prompt and return the text of the last answer; raises as ``PiClient.stream``."""
        return self._wait(self._client.ask(message, images))

    def stream(self, message: str, images: Sequence[Image] = ()) -> Iterator[Event]:
        """Send a prompt and yield events until it is done; raises as ``PiClient.stream``."""
        events = self._client.stream(message, images)

        async def following() -> Event | None:
            return await anext(events, None)

        try:
            while (event := self._wait(following())) is not None:
                yield event
        finally:
            if not self._loop.is_closed():
                self._wait(events.aclose())

    def close(self) -> int | None:
        """End pi, as ``PiClient.close`` does, and return its exit code."""
        if self._loop.is_closed():
            return None
        try:
            return self._wait(self._client.close())
        finally:
            self._stop()

    def _wait(self, work: Coroutine[Any, Any, R]) -> R:
        try:
            self._check()
        except BaseException:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _check(self) -> None:
        if self._loop.is_closed():
            raise ConnectionLost("This client was closed. Create another one")
        if threading.current_thread() is self._thread:
            raise RuntimeError("on_ui cannot call pi and wait: pi waits for what on_ui returns")

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
