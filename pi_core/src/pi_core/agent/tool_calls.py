"""The tool calls of one answer: prepared in order, run concurrently or one by one, finished one at a time.

Hooks and validation run in the loop's own task, one call after another; only ``execute`` runs concurrently. Updates and
results of running tools pass through one queue, so events are in order without locks.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from pi_core.agent.safe_text import exception_message
from pi_core.agent.tool_run import ABORTED, failure, result_problem, run_tool
from pi_core.agent.types import AfterToolCall, BeforeToolCall
from pi_hookspecs import (
    ABORT_GRACE,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolResultMessage,
)
from pi_hookspecs.deferred import define, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.agent.types import AgentContext, LoopConfig
    from pi_hookspecs import AbortSignal, AgentEvent, AgentMessage, AssistantMessage, Tool, ToolCall, ToolResult

__all__ = ["ToolCallBatch", "message_of"]

BLOCKED = "Tool execution was blocked"
REPAIR_NOTE = "argumentsRepair"
"""Key in a call's ``extra`` under which providers note their repairs; it is copied to the result's details."""
SKIPPED = "Skipped due to queued user message."
_MOST_NAMES = 60
"""Names of tools in the result of a call of an unknown tool."""
CUT_OFF = (
    "This call was not run: the answer hit the output limit, so its arguments may be incomplete."
    " Issue the call again, and make the answer shorter."
)


@define(eq=False, repr=False)
class _Slot(ReprMixin):
    """A call of the answer, its result and its message. Compared by identity: models repeat calls, ids included."""

    call: ToolCall
    args_copy: dict[str, Any]
    result: ToolResult | None = None
    message: ToolResultMessage | None = None


@frozen(eq=False, repr=False)
class _Prepared(ReprMixin):
    """A call that was validated and not refused; ``answer`` is a result that replaces running the tool."""

    slot: _Slot
    tool: Tool
    args: dict[str, Any]
    answer: ToolResult | None = None


@frozen(eq=False, repr=False)
class _Update(ReprMixin):
    slot: _Slot
    partial: ToolResult


_QueueItem: TypeAlias = "_Update | tuple[_Prepared, ToolResult, int]"


@define(eq=False, repr=False)
class ToolCallBatch(ReprMixin):
    """Runs the calls of one answer, and appends a result message for each.

    After ``run``, ``steering`` contains the messages that interrupted the batch, and ``terminates`` is true if every
    result requested that the agent stop.
    """

    answer: AssistantMessage
    context: AgentContext
    config: LoopConfig
    signal: AbortSignal
    emit: Callable[[AgentEvent], Awaitable[None]]
    emit_message: Callable[[ToolResultMessage], Awaitable[ToolResultMessage]]
    steering: Sequence[AgentMessage] = ()
    terminates: bool = False
    _one_by_one: bool = False

    async def run(self) -> tuple[ToolResultMessage, ...]:
        """Return a message for each call that has a result, in the answer's order."""
        slots = [_Slot(call, _copied(call.arguments)) for call in self.answer.tool_calls]
        if not slots:
            return ()
        self._one_by_one = self.sequential(slots)
        if self.answer.stop_reason == "length":
            await self.refuse_all(slots, CUT_OFF)
        elif self._one_by_one:
            await self.run_one_by_one(slots)
        else:
            await self.run_together(slots)
        results = [slot.result for slot in slots if slot.result is not None]
        self.terminates = bool(results) and all(result.terminate for result in results)
        return tuple([await self.result_message(slot) for slot in slots if slot.result is not None])

    def sequential(self, slots: Sequence[_Slot]) -> bool:
        """Return whether the calls must run one after another, because the loop or one of their tools requires it."""
        if self.config.tool_execution == "sequential":
            return True
        tools = (self.find(slot.call) for slot in slots)
        return any(tool is not None and tool.execution_mode == "sequential" for tool in tools)

    def find(self, call: ToolCall) -> Tool | None:
        """Return the tool that a call names, or None if it is not offered."""
        return next((tool for tool in self.context.tools if tool.name == call.name), None)

    def unknown(self, name: str) -> str:
        """Return the result of a call of an unknown tool: a model that knows the names can correct itself."""
        names = [tool.name for tool in self.context.tools]
        more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
        known = f"The tools are: {', '.join(names[:_MOST_NAMES])}{more}" if names else "There are no tools"
        return f"Tool {name} not found. {known}. Call one of them, or answer without a call."

    async def run_one_by_one(self, slots: Sequence[_Slot]) -> None:
        """Prepare and run the calls one after another; after an abort, the rest is refused."""
        for position, slot in enumerate(slots):
            if self.signal.aborted:
                await self.refuse_all(slots[position:], ABORTED)
                return
            prepared = await self.prepare(slot)
            if prepared is not None:
                await self.execute([prepared])
            if await self.interrupted(slots[position + 1 :]):
                return

    async def run_together(self, slots: Sequence[_Slot]) -> None:
        """Prepare the calls in order, then run all calls that may run concurrently."""
        ready: list[_Prepared] = []
        not_prepared: Sequence[_Slot] = ()
        for position, slot in enumerate(slots):
            if self.signal.aborted:
                not_prepared = slots[position:]
                break
            prepared = await self.prepare(slot)
            if prepared is not None:
                ready.append(prepared)
            if await self.interrupted(slots[position + 1 :]):
                break
        await self.execute(ready)
        await self.refuse_all(not_prepared, ABORTED)

    async def interrupted(self, rest: Sequence[_Slot]) -> bool:
        """Poll the steering queue if it may interrupt a batch, and skip the remaining calls if it contains messages."""
        if not self.config.skips_on_steering or self.signal.aborted:
            return False
        self.steering = await self.config.get_steering_messages()
        if not self.steering:
            return False
        await self.refuse_all(rest, SKIPPED)
        return True

    # Before

    async def prepare(self, slot: _Slot) -> _Prepared | None:
        """Emit a call's start. Return the call if it may run; else finish it with a failure and return None."""
        await self.start(slot)
        tool = self.find(slot.call)
        if tool is None:
            await self.finish(slot, failure(self.unknown(slot.call.name)))
            return None
        try:
            args = self.config.validator.validate(tool, slot.call)
            decided = await self.ask(slot, tool, args)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - of a schema or a hook; the model reads it
            decided = failure(exception_message(error))
        if isinstance(decided, _Prepared):
            return decided
        await self.finish(slot, decided)
        return None

    async def ask(self, slot: _Slot, tool: Tool, args: dict[str, Any]) -> _Prepared | ToolResult:
        """Call ``before_tool_call``; return the call with its final arguments, or the result of a refusal."""
        call = slot.call
        if self.config.before_tool_call is None:
            return _Prepared(slot, tool, args)
        question = BeforeToolCall(
            assistant_message=self.answer, tool_call=call, tool=tool, args=args, context=self.context
        )
        answer = await self.config.before_tool_call(question, self.signal)
        if answer is not None and answer.block:
            return evolve(failure(answer.reason or BLOCKED), terminate=answer.terminate)
        if answer is None:
            return _Prepared(slot, tool, question.args)
        return _Prepared(slot, tool, question.args if answer.input is None else answer.input, answer.result)

    # During

    async def execute(self, ready: Sequence[_Prepared]) -> None:
        """Run prepared calls concurrently; emit updates and results as they come."""
        queue: asyncio.Queue[_QueueItem] = asyncio.Queue()
        tasks = [asyncio.create_task(self.work(each, queue), name=f"tool {each.tool.name}") for each in ready]
        try:
            running = len(tasks)
            while running:
                item = await queue.get()
                if isinstance(item, _Update):
                    await self.emit_update(item)
                else:
                    running -= 1
                    prepared, result, duration_ms = item
                    result = await self.review(prepared, result)
                    await self.finish(prepared.slot, result, duration_ms)
        finally:
            await _end(tasks)

    async def work(self, prepared: _Prepared, queue: asyncio.Queue[_QueueItem]) -> None:
        """Run one tool and put its result, or its partial results, into the queue."""
        slot = prepared.slot
        if prepared.answer is not None:
            problem = result_problem(prepared.tool, prepared.answer)
            queue.put_nowait((prepared, prepared.answer if problem is None else failure(problem), 0))
            return
        result, duration_ms = await run_tool(
            prepared.tool,
            slot.call,
            prepared.args,
            signal=self.signal,
            make_context=self.config.tool_context,
            on_update=lambda partial: queue.put_nowait(_Update(slot, partial)),
            on_raise=self.config.on_tool_raise,
        )
        queue.put_nowait((prepared, result, duration_ms))

    # After

    async def review(self, prepared: _Prepared, result: ToolResult) -> ToolResult:
        """Return the result, or the result with which ``after_tool_call`` replaces it."""
        if self.config.after_tool_call is None:
            return result
        event = AfterToolCall(
            assistant_message=self.answer,
            tool_call=prepared.slot.call,
            args=prepared.args,
            result=result,
            context=self.context,
        )
        try:
            reviewed = await self.config.after_tool_call(event, self.signal) or result
        except Exception as error:  # noqa: BLE001 - what a hook raises becomes an error result
            return failure(exception_message(error))
        problem = result_problem(prepared.tool, reviewed)
        return reviewed if problem is None else failure(problem)

    async def start(self, slot: _Slot) -> None:
        """Emit the start of a call."""
        call = slot.call
        await self.emit(ToolExecutionStartEvent(tool_call_id=call.id, tool_name=call.name, args=slot.args_copy))

    async def emit_update(self, update: _Update) -> None:
        """Emit a partial result."""
        call = update.slot.call
        await self.emit(
            ToolExecutionUpdateEvent(
                tool_call_id=call.id,
                tool_name=call.name,
                args=update.slot.args_copy,
                partial_result=update.partial,
            )
        )

    async def refuse_all(self, slots: Sequence[_Slot], text: str) -> None:
        """Finish calls with an error without running their tools."""
        for slot in slots:
            await self.start(slot)
            await self.finish(slot, failure(text))

    async def finish(self, slot: _Slot, result: ToolResult, duration_ms: int | None = None) -> None:
        """Set the result of a call and emit it."""
        result = slot.result = _with_repair_note(slot.call, result)
        slot.message = message_of(slot.call, result, duration_ms)
        await self.emit(
            ToolExecutionEndEvent(
                tool_call_id=slot.call.id,
                tool_name=slot.call.name,
                result=result,
                is_error=result.is_error,
                duration_ms=duration_ms,
            )
        )
        if self._one_by_one:
            slot.message = await self.emit_message(slot.message)

    async def result_message(self, slot: _Slot) -> ToolResultMessage:
        """Return the call's result message; for concurrent calls it is appended only now, in the answer's order."""
        assert slot.message is not None  # noqa: S101 - ``finish`` sets result and message together
        return slot.message if self._one_by_one else await self.emit_message(slot.message)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel the tasks that are still running after an interruption, and wait for their grace periods."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=2 * ABORT_GRACE)  # each task also waits for its tool


def _copied(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of the arguments for events; empty if they are nested too deeply to be copied."""
    try:
        return deepcopy(arguments)
    except RecursionError:
        return {}


def _with_repair_note(call: ToolCall, result: ToolResult) -> ToolResult:
    """Return the result with the provider's note about repairs added, if its details are a dict or None."""
    note = call.extra.get(REPAIR_NOTE)
    if note is None or not isinstance(result.details, dict | None):
        return result
    return evolve(result, details={**(result.details or {}), REPAIR_NOTE: note})


def message_of(call: ToolCall, result: ToolResult, duration_ms: int | None = None) -> ToolResultMessage:
    """Return the message with the result of a call."""
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=result.content,
        details=result.details,
        is_error=result.is_error,
        usage=result.usage,
        duration_ms=duration_ms,
    )
