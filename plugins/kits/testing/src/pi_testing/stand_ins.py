"""Fake tools: they return the results that the test sets, and record their calls."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import field, frozen

from pi_hookspecs import Tool, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pi_hookspecs import AbortSignal, ExecutionMode, ToolContext, ToolUpdate

__all__ = ["CODING_TOOLS", "FakeTool", "make_tool", "stand_in"]

CODING_TOOLS = ("read", "bash", "edit", "write")
"""Tools that a session offers by default."""

ToolAnswer: TypeAlias = "str | ToolResult | BaseException | Callable[[dict[str, Any]], str | ToolResult]"

_ANYTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}


@frozen(kw_only=True, eq=False)
class FakeTool(Tool):
    """A fake tool for a test.

    Attributes:
        calls: The arguments of every call that ran, in order.
    """

    calls: list[dict[str, Any]] = field(factory=list)


def make_tool(
    name: str = "echo",
    result: ToolAnswer | None = None,
    *,
    delay: float = 0.0,
    updates: Sequence[str] = (),
    mode: ExecutionMode | None = None,
    parameters: dict[str, Any] | None = None,
    **fields: Any,
) -> FakeTool:
    """Return a tool that records its calls.

    Args:
        name: The tool's name.
        result: The result: a text, a ``ToolResult``, an exception to raise, or a function of the arguments. None
            returns the arguments as JSON.
        delay: Seconds that a call takes; ``inf`` never returns. An abort ends the delay.
        updates: Partial results that are emitted first.
        mode: ``sequential`` or ``parallel``; None uses the agent's mode.
        parameters: The JSON schema of the arguments; None accepts any object.
        fields: Further fields of ``Tool``.
    """
    calls: list[dict[str, Any]] = []

    async def execute(
        _call_id: str, params: dict[str, Any], signal: AbortSignal, on_update: ToolUpdate, _ctx: ToolContext
    ) -> ToolResult:
        calls.append(params)
        for update in updates:
            on_update(ToolResult.text(update))
        await _pause(delay, signal)
        return _answer(result, params)

    fields.setdefault("description", f"Stands in for {name}.")
    schema = _ANYTHING if parameters is None else parameters
    return FakeTool(name=name, parameters=schema, execute=execute, execution_mode=mode, calls=calls, **fields)


def stand_in(name: str) -> FakeTool:
    """Return a fake version of one of pi's own tools, for use when its plugin is not loaded."""
    return make_tool(name, f"{name} was called, and did nothing: it is a stand-in of pi_testing.")


async def _pause(seconds: float, signal: AbortSignal) -> None:
    try:
        async with asyncio.timeout(None if seconds == float("inf") else seconds):
            await signal.wait()
    except TimeoutError:
        return
    signal.raise_if_aborted()


def _answer(result: ToolAnswer | None, params: dict[str, Any]) -> ToolResult:
    if result is None:
        result = json.dumps(params, ensure_ascii=False)
    elif isinstance(result, BaseException):
        raise result
    elif callable(result):
        result = result(params)
    return result if isinstance(result, ToolResult) else ToolResult.text(result)
