"""Blocking file work off the event loop, in the two ways a tool needs: abandoned on abort, or always finished."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pi_tools.failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.abort import AbortSignal

__all__ = ["ABORTED", "check", "finish", "look"]

P = ParamSpec("P")
R = TypeVar("R")

ABORTED = "Operation aborted"


def check(signal: AbortSignal) -> None:
    """Raise ``Operation aborted`` when the run was aborted."""
    if signal.aborted:
        raise ToolFailure(ABORTED)


async def look(signal: AbortSignal, function: Callable[..., R], *args: Any) -> R:
    """Run a read-only function in a thread; an abort raises at once, the thread ends later."""
    check(signal)
    work = asyncio.get_running_loop().run_in_executor(None, function, *args)
    forget = signal.on_abort(work.cancel)
    try:
        return await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if signal.aborted and not (task and task.cancelling()):
            raise ToolFailure(ABORTED) from None
        raise
    finally:
        forget()


async def finish(function: Callable[..., R], *args: Any) -> R:
    """Run a change in a thread to its end: a cancellation waits until the file is complete."""
    work = asyncio.get_running_loop().run_in_executor(None, function, *args)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise
