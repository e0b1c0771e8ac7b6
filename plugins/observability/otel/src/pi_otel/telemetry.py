"""Shared by the sessions of a process: the export, and the records that wait while the SDK is imported.

The SDK takes longer to import than pi takes to its first request. So what happens until that request is answered is
kept as steps with their times, the SDK is imported in a thread meanwhile, and then the steps are taken.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from functools import cache
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_otel.export import Outlet
    from pi_otel.session import Observed

__all__ = ["Telemetry", "telemetry"]

END_SECONDS = 1.3
"""How long the end of the last session takes at most, with the import of the SDK that a short run begins only then."""

FLUSH_SECONDS = 1.0
"""How long the exporter has in any case, however long the import took."""


class Telemetry:
    """The export of a process.

    Attributes:
        sessions: How many observed sessions there are.
        at_work: By the id of a session, what observes it, while it answers a prompt.
        parents: By the id of a child session, the context of the span that it works for.
        warned: Whether the user knows that something could not be sent.
    """

    def __init__(self) -> None:
        self.sessions = 0
        self.at_work: dict[str, Observed] = {}
        self.parents: dict[str, Any] = {}
        self.warned = False
        self._outlet: Outlet | None = None
        self._thread: threading.Thread | None = None
        self._failure: str | None = None
        self._error: Exception | None = None
        self._backlog: deque[Callable[[Outlet], object]] = deque()

    def do(self, step: Callable[[Outlet], object]) -> None:
        """Take a step now, or as soon as the SDK is there; without it, never."""
        if self._failure is not None:
            self._backlog.clear()
            return
        self._backlog.append(step)
        while self._outlet is not None and self._backlog:
            try:
                self._backlog.popleft()(self._outlet)
            except Exception as error:  # noqa: BLE001 - a failing span must not fail, or refuse, what it is about
                self._error = self._error or error

    def load(self) -> None:
        """Import the SDK in a thread, which does not keep the process alive."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._load, name="pi-otel-load", daemon=True)
            self._thread.start()

    async def loaded(self) -> None:
        """Wait until the SDK is imported, and take the steps that waited for it."""
        self.load()
        if self._thread is not None and self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)
        self.do(lambda _: None)

    def _load(self) -> None:
        try:
            from pi_otel.export import open_outlet

            self._outlet = open_outlet()
        except Exception as error:  # noqa: BLE001 - a broken installation, or an exporter that refuses its variables
            self._failure = f"OpenTelemetry cannot be used: {error}"

    async def finish(self) -> str | None:
        """Send what waits, for a limited time; return a sentence about what could not be sent, once per process.

        Without a prompt there is nothing to send, and the SDK is not imported.
        """
        if self._thread is None:
            return None
        until = monotonic() + END_SECONDS
        await self.loaded()
        problem = self._failure
        if self._outlet is not None:
            await self._flush(self._outlet, max(FLUSH_SECONDS, until - monotonic()))
            problem = self._outlet.problem()
            if self._error is not None:
                problem = f"OpenTelemetry: something could not be recorded: {self._error!r}"
        if problem is None or self.warned:
            return None
        self.warned = True
        return problem

    async def _flush(self, outlet: Outlet, seconds: float) -> None:
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def report() -> None:
            with suppress(RuntimeError):  # the loop is closed: nothing waits any more
                loop.call_soon_threadsafe(done.set)

        outlet.flush(report)
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), seconds)


@cache
def telemetry() -> Telemetry:
    """Return that of this process, as OpenTelemetry has one provider for each."""
    return Telemetry()
