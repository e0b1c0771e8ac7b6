"""One tool at work: bounded by the run's abort, whatever it raises, returns or goes on doing afterwards."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_core.agent.cancel import cancelled_from_outside
from pi_core.agent.safe_text import exception_message, safe_repr
from pi_hookspecs import ABORT_GRACE, ImageContent, TextContent, ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from pi_hookspecs import AbortSignal, Tool, ToolCall, ToolContext, ToolUpdate

__all__ = ["MakeToolContext", "failure", "result_problem", "run_tool"]

ABORTED = "Operation aborted"

MakeToolContext: TypeAlias = "Callable[[ToolCall, ToolUpdate], ToolContext]"


def failure(text: str) -> ToolResult:
    """Return the result of a call that failed; the model reads the text."""
    return ToolResult(content=(TextContent(text),), details={}, is_error=True)


async def run_tool(
    tool: Tool,
    call: ToolCall,
    args: dict[str, Any],
    *,
    signal: AbortSignal,
    make_context: MakeToolContext | None,
    on_update: Callable[[ToolResult], None],
    on_raise: Callable[[BaseException], object] | None = None,
) -> tuple[ToolResult, int]:
    """Return what the call gave and how long it took, in milliseconds.

    Args:
        tool: What to run.
        call: The model's call.
        args: The arguments to run it with.
        signal: The run's abort; a call that has not started by then does not start.
        make_context: Makes the tool's ``ctx``.
        on_update: Gets the partial results, in the loop's thread, until the call has settled.
        on_raise: Called with what the tool raised, before that becomes a result.
    """
    started = time.perf_counter()
    if signal.aborted:
        return failure(ABORTED), 0
    updates = _Updates(tool, on_update)

    async def execute() -> Any:
        ctx: Any = make_context(call, updates.show) if make_context is not None else None
        waiting: Any = tool.execute(call.id, args, signal, updates.show, ctx)
        if not hasattr(waiting, "__await__"):
            raise TypeError(f"Tool {tool.name} has an execute that is not async: it returned {safe_repr(waiting)}")
        return await waiting

    result = await _bounded(_result_of(tool, execute, signal, on_raise), signal)
    updates.close()
    return result, round((time.perf_counter() - started) * 1000)


async def _bounded(running: Coroutine[Any, Any, ToolResult], signal: AbortSignal) -> ToolResult:
    """Return the tool's result; after an abort it has a grace to settle, then it is cancelled, then left."""
    work = asyncio.create_task(running)
    abort = asyncio.create_task(signal.wait())
    try:
        await asyncio.wait((work, abort), return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            await asyncio.wait((work,), timeout=ABORT_GRACE)
        if not work.done():
            work.cancel()
            await asyncio.wait((work,), timeout=ABORT_GRACE)
        return work.result() if work.done() and not work.cancelled() else failure(ABORTED)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait((work,), timeout=ABORT_GRACE)
        raise
    finally:
        abort.cancel()


async def _result_of(
    tool: Tool,
    execute: Callable[[], Awaitable[Any]],
    signal: AbortSignal,
    on_raise: Callable[[BaseException], object] | None,
) -> ToolResult:
    """Return what a tool gave, or the failure that its raising, or a wrong type, is."""
    try:
        result = await execute()
    except asyncio.CancelledError:
        if signal.aborted:
            return failure(ABORTED)
        if cancelled_from_outside():
            raise
        return failure(f"Tool {tool.name} was cancelled")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - a tool may raise anything, SystemExit included
        if on_raise is not None:
            on_raise(error)
        return failure(exception_message(error))
    problem = result_problem(tool, result)
    return result if problem is None else failure(problem)


class _Updates:
    """Takes a running tool's partial results, from any thread, until it has settled."""

    def __init__(self, tool: Tool, on_update: Callable[[ToolResult], None]) -> None:
        self._tool = tool
        self._on_update = on_update
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def show(self, partial: ToolResult) -> None:
        """Queue a partial result; one that is none is the tool's mistake and raises where it was made."""
        problem = result_problem(self._tool, partial)
        if problem is not None:
            raise TypeError(problem)
        if threading.get_ident() == self._thread:
            self._pass_on(partial)
        elif self._open:
            with suppress(RuntimeError):  # the loop may end while a thread that was left behind goes on
                self._loop.call_soon_threadsafe(self._pass_on, partial)

    def close(self) -> None:
        self._open = False

    def _pass_on(self, partial: ToolResult) -> None:
        if self._open:
            self._on_update(partial)


def result_problem(tool: Tool, result: object) -> str | None:
    """Return what is wrong with what a tool gave, for the model and the tool's author."""
    if not isinstance(result, ToolResult):
        return f"Tool {tool.name} returned {result!r:.80}, which is no ToolResult"
    blocks: object = result.content
    if not isinstance(blocks, tuple) or not all(isinstance(each, TextContent | ImageContent) for each in blocks):
        return f"Tool {tool.name} returned content {blocks!r:.80}, which is no tuple of text and images"
    return None
