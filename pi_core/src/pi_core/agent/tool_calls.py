"""The calls of one answer: prepared in order, run together or one by one, finished one at a time.

Hooks and validation run in the loop's own task, one call after another; only ``execute`` runs
concurrently. Whatever running tools have to tell comes through one queue, so that events keep an order
without locks.
"""

from __future__ import annotations

import asyncio
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define, evolve, frozen

from pi_core.agent.safe_text import exception_message
from pi_core.agent.tool_run import failure, result_problem, run_tool
from pi_core.agent.types import AfterToolCall, BeforeToolCall
from pi_hookspecs import (
    ABORT_GRACE,
    ToolExecutionEndEvent,
    ToolExecutionStartEvent,
    ToolExecutionUpdateEvent,
    ToolResultMessage,
)
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.agent.types import AgentContext, LoopConfig
    from pi_hookspecs import AbortSignal, AgentEvent, AgentMessage, AssistantMessage, Tool, ToolCall, ToolResult

__all__ = ["ToolCallBatch"]

BLOCKED = "Tool execution was blocked"
REPAIR_NOTE = "argumentsRepair"
"""Where providers note, in a call's ``extra``, what they repaired; the result's details repeat it."""
SKIPPED = "Skipped due to queued user message."
CUT_OFF = (
    "This call was not run: the answer hit the output limit, so its arguments may be incomplete."
    " Issue the call again, and make the answer shorter."
)


@define(eq=False, repr=False)
class _Slot(ReprMixin):
    """A call of the answer, and what became of it. Identity counts: models repeat calls, ids included."""

    call: ToolCall
    shown_args: dict[str, Any]
    result: ToolResult | None = None
    message: ToolResultMessage | None = None


@frozen(eq=False, repr=False)
class _Prepared(ReprMixin):
    """A call that may run."""

    slot: _Slot
    tool: Tool
    args: dict[str, Any]


@frozen(eq=False, repr=False)
class _Update(ReprMixin):
    slot: _Slot
    partial: ToolResult


_News: TypeAlias = "_Update | tuple[_Prepared, ToolResult, int]"


@define(eq=False, repr=False)
class ToolCallBatch(ReprMixin):
    """Runs the calls of one answer, and delivers a result message for each.

    After ``run``: ``steering`` holds the messages that interrupted the batch, ``terminates`` says
    whether every result asked the agent to stop.
    """

    answer: AssistantMessage
    context: AgentContext
    config: LoopConfig
    signal: AbortSignal
    emit: Callable[[AgentEvent], Awaitable[None]]
    deliver: Callable[[ToolResultMessage], Awaitable[ToolResultMessage]]
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
            for slot in slots:
                await self.refuse(slot, CUT_OFF)
        elif self._one_by_one:
            await self.run_one_by_one(slots)
        else:
            await self.run_together(slots)
        results = [slot.result for slot in slots if slot.result is not None]
        self.terminates = bool(results) and all(result.terminate for result in results)
        return tuple([await self.told(slot) for slot in slots if slot.result is not None])

    def sequential(self, slots: Sequence[_Slot]) -> bool:
        """Return whether the calls run one after the other, because the loop or one of their tools requires it."""
        if self.config.tool_execution == "sequential":
            return True
        tools = (self.find(slot.call) for slot in slots)
        return any(tool is not None and tool.execution_mode == "sequential" for tool in tools)

    def find(self, call: ToolCall) -> Tool | None:
        """Return the tool that a call names, or None where it is not offered."""
        return next((tool for tool in self.context.tools if tool.name == call.name), None)

    async def run_one_by_one(self, slots: Sequence[_Slot]) -> None:
        """Prepare and run each call after the one before it has ended, until an abort."""
        for position, slot in enumerate(slots):
            if self.signal.aborted:
                return
            prepared = await self.prepare(slot)
            if prepared is not None:
                await self.execute([prepared])
            if await self.interrupted(slots[position + 1 :]):
                return

    async def run_together(self, slots: Sequence[_Slot]) -> None:
        """Prepare the calls in order, then run those that passed at the same time."""
        ready: list[_Prepared] = []
        for position, slot in enumerate(slots):
            if self.signal.aborted:
                break
            prepared = await self.prepare(slot)
            if prepared is not None:
                ready.append(prepared)
            if await self.interrupted(slots[position + 1 :]):
                break
        await self.execute(ready)

    async def interrupted(self, rest: Sequence[_Slot]) -> bool:
        """Poll the steering queue where that may interrupt a batch, and skip the rest of the calls for it."""
        if not self.config.skips_on_steering or self.signal.aborted:
            return False
        self.steering = await self.config.get_steering_messages()
        if not self.steering:
            return False
        for slot in rest:
            await self.refuse(slot, SKIPPED)
        return True

    # Before

    async def prepare(self, slot: _Slot) -> _Prepared | None:
        """Announce a call and return it when it may run; else its failure is already its result."""
        await self.start(slot)
        tool = self.find(slot.call)
        if tool is None:
            await self.finish(slot, failure(f"Tool {slot.call.name} not found"))
            return None
        try:
            args = self.config.validator.validate(tool, slot.call)
            refusal, args = await self.ask(slot.call, args)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - of a schema or a hook; the model is told
            refusal = failure(exception_message(error))
        if refusal is not None:
            await self.finish(slot, refusal)
            return None
        return _Prepared(slot, tool, args)

    async def ask(self, call: ToolCall, args: dict[str, Any]) -> tuple[ToolResult | None, dict[str, Any]]:
        """Return the refusal, if any, and the arguments to use."""
        if self.config.before_tool_call is None:
            return None, args
        question = BeforeToolCall(
            assistant_message=self.answer, tool_call=call, args=deepcopy(args), context=self.context
        )
        answer = await self.config.before_tool_call(question, self.signal)
        if answer is not None and answer.block:
            return evolve(failure(answer.reason or BLOCKED), terminate=answer.terminate), args
        if answer is not None and answer.input is not None:
            return None, answer.input
        return None, question.args

    # During

    async def execute(self, ready: Sequence[_Prepared]) -> None:
        """Run prepared calls at the same time; tell of updates and results as they come."""
        news: asyncio.Queue[_News] = asyncio.Queue()
        tasks = [asyncio.create_task(self.work(each, news), name=f"tool {each.tool.name}") for each in ready]
        try:
            running = len(tasks)
            while running:
                item = await news.get()
                if isinstance(item, _Update):
                    await self.show(item)
                else:
                    running -= 1
                    prepared, result, duration_ms = item
                    result = await self.review(prepared, result)
                    await self.finish(prepared.slot, result, duration_ms)
        finally:
            await _end(tasks)

    async def work(self, prepared: _Prepared, news: asyncio.Queue[_News]) -> None:
        """Run one tool and put its result, or its partial results, into the queue."""
        slot = prepared.slot
        result, duration_ms = await run_tool(
            prepared.tool,
            slot.call,
            prepared.args,
            signal=self.signal,
            make_context=self.config.tool_context,
            on_update=lambda partial: news.put_nowait(_Update(slot, partial)),
            on_raise=self.config.on_tool_raise,
        )
        news.put_nowait((prepared, result, duration_ms))

    # After

    async def review(self, prepared: _Prepared, result: ToolResult) -> ToolResult:
        """Let the surroundings replace a result."""
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
        """Announce that a call begins."""
        call = slot.call
        await self.emit(ToolExecutionStartEvent(tool_call_id=call.id, tool_name=call.name, args=slot.shown_args))

    async def show(self, update: _Update) -> None:
        """Announce a partial result."""
        call = update.slot.call
        await self.emit(
            ToolExecutionUpdateEvent(
                tool_call_id=call.id,
                tool_name=call.name,
                args=update.slot.shown_args,
                partial_result=update.partial,
            )
        )

    async def refuse(self, slot: _Slot, text: str) -> None:
        """Answer a call with an error without running its tool."""
        await self.start(slot)
        await self.finish(slot, failure(text))

    async def finish(self, slot: _Slot, result: ToolResult, duration_ms: int | None = None) -> None:
        """Keep the result of a call and announce it."""
        result = slot.result = _noted(slot.call, result)
        slot.message = _message(slot.call, result, duration_ms)
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
            slot.message = await self.deliver(slot.message)

    async def told(self, slot: _Slot) -> ToolResultMessage:
        """Return the call's result message; calls that ran together are delivered only now, in order."""
        assert slot.message is not None  # noqa: S101 - ``finish`` sets result and message together
        return slot.message if self._one_by_one else await self.deliver(slot.message)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel what still runs, because the batch was broken off, and give it the grace to end."""
    running = [task for task in tasks if not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running, timeout=2 * ABORT_GRACE)  # each of them gives its tool one


def _copied(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as observers may have them; nested too deeply for a copy, they are not shown."""
    try:
        return deepcopy(arguments)
    except RecursionError:
        return {}


def _noted(call: ToolCall, result: ToolResult) -> ToolResult:
    """Return the result with what the provider repaired in the call, where its details have room for that."""
    note = call.extra.get(REPAIR_NOTE)
    if note is None or not isinstance(result.details, dict | None):
        return result
    return evolve(result, details={**(result.details or {}), REPAIR_NOTE: note})


def _message(call: ToolCall, result: ToolResult, duration_ms: int | None) -> ToolResultMessage:
    return ToolResultMessage(
        tool_call_id=call.id,
        tool_name=call.name,
        content=result.content,
        details=result.details,
        is_error=result.is_error,
        usage=result.usage,
        duration_ms=duration_ms,
    )
