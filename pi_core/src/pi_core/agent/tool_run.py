"""Executes one tool: an abort of the run ends it, and an exception or an invalid result becomes a failure."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from pi_core.agent.cancel import cancelled_from_outside
from pi_core.agent.safe_text import exception_message, is_interrupt, safe_repr
from pi_hookspecs import ABORT_GRACE, ImageContent, TextContent, ToolResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from pi_hookspecs import AbortSignal, Tool, ToolCall, ToolContext, ToolUpdate

__all__ = ["MakeToolContext", "failure", "result_problem", "run_tool"]

ABORTED = "Operation aborted"

MakeToolContext: TypeAlias = "Callable[[ToolCall, ToolUpdate], ToolContext]"


def failure(text: str) -> ToolResult:
    """Return the result of a failed call; the model reads the text."""
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
    """Run a tool; return its result and how long it took, in milliseconds.

    Args:
        tool: The tool to run.
        call: The model's call.
        args: The arguments to run it with.
        signal: The run's abort signal; after an abort, a call does not start.
        make_context: Returns the tool's ``ctx``.
        on_update: Called with partial results, in the event loop's thread, until the tool has settled.
        on_raise: Called with an exception that the tool raised, before the exception becomes a result.
    """
    started = time.perf_counter()
    if signal.aborted:
        return failure(ABORTED), 0
    updates = _Updates(tool, on_update)

    async def execute() -> Any:
        ctx: Any = make_context(call, updates.report) if make_context is not None else None
        waiting: Any = tool.execute(call.id, args, signal, updates.report, ctx)
        if not hasattr(waiting, "__await__"):
            raise TypeError(f"The execute function of tool {tool.name} is not async: it returned {safe_repr(waiting)}")
        return await waiting

    result = await _bounded(_result_of(tool, execute, signal, on_raise), signal)
    updates.close()
    return result, round((time.perf_counter() - started) * 1000)


async def _bounded(running: Coroutine[Any, Any, ToolResult], signal: AbortSignal) -> ToolResult:
    """Return the tool's result. After an abort the tool has a grace period; then it is cancelled, then abandoned."""
    work = asyncio.create_task(running)
    aborted = asyncio.get_running_loop().create_future()  # a task for each of many calls would cost more
    forget = signal.on_abort(lambda: None if aborted.done() else aborted.set_result(None))
    try:
        await asyncio.wait((work, aborted), return_when=asyncio.FIRST_COMPLETED)
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
        forget()
        aborted.cancel()


async def _result_of(
    tool: Tool,
    execute: Callable[[], Awaitable[Any]],
    signal: AbortSignal,
    on_raise: Callable[[BaseException], object] | None,
) -> ToolResult:
    """Return the tool's result, or a failure if the tool raised or returned a value of a wrong type."""
    try:
        result = await execute()
    except asyncio.CancelledError:
        if signal.aborted:
            return failure(ABORTED)
        if cancelled_from_outside():
            raise
        return failure(f"Tool {tool.name} was cancelled")
    except BaseException as error:
        if is_interrupt(error):
            raise
        if on_raise is not None:
            on_raise(error)
        return failure(exception_message(error))
    problem = result_problem(tool, result)
    return result if problem is None else failure(problem)


class _Updates:
    """Passes a running tool's partial results on, from any thread, until the tool has settled."""

    def __init__(self, tool: Tool, on_update: Callable[[ToolResult], None]) -> None:
        self._tool = tool
        self._on_update = on_update
        self._open = True
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()

    def report(self, partial: ToolResult) -> None:
        """Pass a partial result on. A value of a wrong type raises ``TypeError`` in the tool's own code."""
        problem = result_problem(self._tool, partial)
        if problem is not None:
            raise TypeError(problem)
        if threading.get_ident() == self._thread:
            self._pass_on(partial)
        elif self._open:
            with suppress(RuntimeError):  # the event loop may be closed while an abandoned thread still runs
                self._loop.call_soon_threadsafe(self._pass_on, partial)

    def close(self) -> None:
        self._open = False

    def _pass_on(self, partial: ToolResult) -> None:
        if self._open:
            self._on_update(partial)


def result_problem(tool: Tool, result: object) -> str | None:
    """Return what is wrong with a tool's result, for the model and the tool's author; None if it is valid."""
    if not isinstance(result, ToolResult):
        return f"Tool {tool.name} returned {result!r:.80}, which is not of type ToolResult"
    blocks: object = result.content
    if not isinstance(blocks, tuple) or not all(isinstance(each, TextContent | ImageContent) for each in blocks):
        return f"Tool {tool.name} returned content {blocks!r:.80}, which is not a tuple of text and images"
    return None
