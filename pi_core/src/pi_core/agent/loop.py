"""The agent loop: context -> provider -> tools -> again, until the model has nothing left to do.

It knows messages, tools, a stream function and callbacks; it does not know sessions, files, settings or
terminals. Read it from ``run_loop`` down.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from attrs import define, field

from pi_core.agent.request import ask_model
from pi_core.agent.stream import EventStream
from pi_core.agent.types import AgentContext, LoopCallbacks, LoopConfig
from pi_hookspecs import (
    AbortSignal,
    AgentEndEvent,
    AgentStartEvent,
    AssistantMessage,
    MessageEndEvent,
    MessageStartEvent,
    PiError,
    TurnEndEvent,
    TurnStartEvent,
    now_ms,
)
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from pi_core.agent.tool_calls import ToolCallBatch
    from pi_core.agent.types import Emit, Poll
    from pi_hookspecs import (
        AgentEvent,
        AgentMessage,
        ToolResultMessage,
    )

__all__ = ["AgentContext", "LoopCallbacks", "LoopConfig", "agent_loop", "agent_loop_continue", "run_loop"]

M = TypeVar("M", bound="AgentMessage")


def agent_loop(
    prompts: Sequence[AgentMessage],
    context: AgentContext,
    config: LoopConfig,
    signal: AbortSignal | None = None,
) -> EventStream[AgentEvent, tuple[AgentMessage, ...]]:
    """Answer prompts. The stream's result is the tuple of the run's new messages."""
    return _streamed(list(prompts), context, config, signal)


def agent_loop_continue(
    context: AgentContext, config: LoopConfig, signal: AbortSignal | None = None
) -> EventStream[AgentEvent, tuple[AgentMessage, ...]]:
    """Go on from a context that ends in a user message or a tool result.

    Raises:
        PiError: The context is empty, or ends in an answer.
    """
    if not context.messages:
        message = "Cannot continue: no messages in context"
        raise PiError(message)
    if context.messages[-1].role == "assistant":
        message = "Cannot continue from message role: assistant"
        raise PiError(message)
    return _streamed([], context, config, signal)


def _streamed(
    prompts: list[AgentMessage], context: AgentContext, config: LoopConfig, signal: AbortSignal | None
) -> EventStream[AgentEvent, tuple[AgentMessage, ...]]:
    def result_of(event: AgentEvent) -> tuple[tuple[AgentMessage, ...]] | None:
        return (event.messages,) if isinstance(event, AgentEndEvent) else None

    stream: EventStream[AgentEvent, tuple[AgentMessage, ...]] = EventStream(result_of)

    async def emit(event: AgentEvent) -> None:
        stream.push(event)

    async def produce() -> None:
        try:
            await run_loop(prompts, context, config, signal or AbortSignal(), emit)
        except BaseException as error:
            stream.fail(error)
            if not isinstance(error, Exception):
                raise

    stream.producer = asyncio.create_task(produce())
    return stream


def run_loop(
    prompts: Sequence[AgentMessage], context: AgentContext, config: LoopConfig, signal: AbortSignal, emit: Emit
) -> Coroutine[Any, Any, tuple[AgentMessage, ...]]:
    """Run until the model is done and return the new messages. ``emit`` is awaited for every event, in order."""
    return _Run(context, config, signal, emit).run(prompts)


@define(eq=False, repr=False)
class _Run(ReprMixin):
    """One run of the loop: its surroundings, and what is new."""

    context: AgentContext
    config: LoopConfig
    signal: AbortSignal
    emit: Emit
    new: list[AgentMessage] = field(factory=list)
    turns: int = 0

    async def run(self, prompts: Sequence[AgentMessage]) -> tuple[AgentMessage, ...]:
        await self.emit(AgentStartEvent())
        await self.begin_turn()
        for message in prompts:
            await self.deliver(message)
        pending = await self.poll(self.config.get_steering_messages)
        while await self.work_until_quiet(pending):
            pending = await self.poll(self.config.get_follow_up_messages)
            if not pending:
                break
            await self.begin_turn()
        new = tuple(self.new)
        last = next((message for message in reversed(new) if isinstance(message, AssistantMessage)), None)
        error = last.error_message if last is not None and last.stop_reason == "error" else None
        await self.emit(AgentEndEvent(messages=new, error=error))
        return new

    async def work_until_quiet(self, pending: Sequence[AgentMessage]) -> bool:
        """Take turns until there are no tool calls and nothing is queued; False when the run is to end there."""
        while True:
            for message in pending:
                await self.deliver(message)
            answer = await self.conclude(await ask_model(self.context, self.config, self.signal, self.emit))
            if answer.stop_reason in ("error", "aborted"):
                await self.end_turn(answer, ())
                return False
            batch = self.batch_of(answer) if answer.tool_calls else None
            results = await batch.run() if batch is not None else ()
            wish = await self.end_turn(answer, results)
            if wish == "end" or await self.stops_here():
                return False
            interrupted_by = batch.steering if batch is not None else ()
            pending = interrupted_by or await self.poll(self.config.get_steering_messages)
            calls_for_more = batch is not None and not batch.terminates
            if not (calls_for_more or pending or wish == "continue"):
                return True
            await self.begin_turn()

    def batch_of(self, answer: AssistantMessage) -> ToolCallBatch:
        from pi_core.agent.tool_calls import ToolCallBatch  # many answers have no calls

        return ToolCallBatch(answer, self.context, self.config, self.signal, self.emit, self.deliver)

    async def begin_turn(self) -> None:
        await self.emit(TurnStartEvent(turn_index=self.turns, timestamp=now_ms()))

    async def end_turn(
        self, answer: AssistantMessage, results: tuple[ToolResultMessage, ...]
    ) -> Literal["end", "continue"] | None:
        wish = await self.config.finish_turn(answer, results, self.turns) if self.config.finish_turn else None
        await self.emit(TurnEndEvent(message=answer, tool_results=results, turn_index=self.turns))
        self.turns += 1
        return wish

    async def poll(self, queue: Poll) -> Sequence[AgentMessage]:
        """Return what is queued; an aborted run leaves it there."""
        return () if self.signal.aborted else await queue()

    async def stops_here(self) -> bool:
        stop = self.config.should_stop_after_turn
        return stop is not None and await stop(self.context)

    async def deliver(self, message: M) -> M:
        """Make a message that comes in one piece part of the transcript."""
        await self.emit(MessageStartEvent(message=message))
        return await self.conclude(message)

    async def conclude(self, message: M) -> M:
        """Make a complete message part of the transcript, as its observers left it."""
        if self.config.finish_message is not None:
            message = await self.config.finish_message(message)
        self.context.messages.append(message)
        self.new.append(message)
        await self.emit(MessageEndEvent(message=message))
        return message
