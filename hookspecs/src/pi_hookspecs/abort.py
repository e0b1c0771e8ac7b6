"""The abort signal: set once, observed by the provider, tools, hooks and ``ctx.exec``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pi_hookspecs.errors import Aborted

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ABORT_GRACE", "AbortController", "AbortSignal"]

ABORT_GRACE = 2.0
"""Seconds that a provider or tool gets to settle after an abort, before its task is cancelled."""


class AbortSignal:
    """Read side of an abort. Belongs to one run and is never reset.

    A provider or tool that has not finished ``ABORT_GRACE`` seconds after the abort is cancelled as a task.
    """

    __slots__ = ("_callbacks", "_reason")

    def __init__(self) -> None:
        self._reason: str | None = None
        self._callbacks: dict[object, Callable[[], object]] = {}  # by an object of each registration, in order

    @property
    def aborted(self) -> bool:
        """Whether the run was aborted."""
        return self._reason is not None

    @property
    def reason(self) -> str | None:
        """The reason, written for the user; None while the run continues."""
        return self._reason

    def raise_if_aborted(self) -> None:
        """Raise ``Aborted`` with the reason when the run was aborted."""
        if self._reason is not None:
            raise Aborted(self._reason)

    async def wait(self) -> str:
        """Return the reason as soon as there is one."""
        if self._reason is None:
            woken = asyncio.get_running_loop().create_future()

            def wake() -> None:
                if not woken.done():
                    woken.set_result(None)

            forget = self.on_abort(wake)
            try:
                await woken
            finally:
                forget()
        return self._reason or ""

    def on_abort(self, callback: Callable[[], object]) -> Callable[[], None]:
        """Call ``callback`` once at the abort, immediately if it has happened; return a function that unregisters it.

        An exception of one callback does not keep the others from being called: it goes to the event loop's exception
        handler.
        """
        if self._reason is not None:
            callback()
            return lambda: None
        registration = object()
        self._callbacks[registration] = callback

        def forget() -> None:
            self._callbacks.pop(registration, None)

        return forget


class AbortController:
    """Write side of an abort; kept by the code that starts a run."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: str = "Operation aborted") -> None:
        """Set the signal; the second call changes nothing."""
        signal = self.signal
        if signal._reason is not None:  # noqa: SLF001 - the two halves of one value
            return
        signal._reason = reason  # noqa: SLF001
        callbacks, signal._callbacks = signal._callbacks, {}  # noqa: SLF001
        for callback in callbacks.values():
            try:
                callback()
            except Exception as error:  # noqa: BLE001 - from a tool or plugin; the others have to stop all the same
                _report(error, callback)


def _report(error: Exception, callback: Callable[[], object]) -> None:
    """Pass a callback's error to asyncio's exception handler; without a running loop, drop it."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    loop.call_exception_handler({"message": f"Abort callback {callback!r} raised", "exception": error})
