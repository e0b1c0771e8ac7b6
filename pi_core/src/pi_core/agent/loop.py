"""The agent loop: ask the model, run its tool calls, append their results, repeat until it makes no more calls.

The loop works with messages, tools, a stream function and callbacks; it does not know about sessions, files, settings
or terminals. Start reading at ``run_loop``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, TypeVar

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
from pi_hookspecs.deferred import define, field
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
    """Run the loop for prompts in a task. The result of the returned stream is a tuple of the run's new messages."""
    return _start_loop(list(prompts), context, config, signal)


def agent_loop_continue(
    context: AgentContext, config: LoopConfig, signal: AbortSignal | None = None
) -> EventStream[AgentEvent, tuple[AgentMessage, ...]]:
    """Continue from a context that ends in a user message or a tool result; return a stream like ``agent_loop``.

    Raises:
        PiError: The context is empty, or ends in an assistant message.
    """
    if not context.messages:
        message = "Cannot continue: no messages in context"
        raise PiError(message)
    if context.messages[-1].role == "assistant":
        message = "Cannot continue from message role: assistant"
        raise PiError(message)
    return _start_loop([], context, config, signal)


def _start_loop(
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
    """Run the loop to its end and return the new messages. ``emit`` is awaited for every event, in order."""
    return _Run(context, config, signal, emit).run(prompts)


@define(eq=False, repr=False)
class _Run(ReprMixin):
    """One run of the loop, with the messages that it has appended and the number of its turns."""

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
            await self.emit_message(message)
        pending = await self.poll(self.config.get_steering_messages)
        while await self.run_turns(pending):
            pending = await self.poll(self.config.get_follow_up_messages)
            if not pending:
                break
            await self.begin_turn()
        new = tuple(self.new)
        last = next((message for message in reversed(new) if isinstance(message, AssistantMessage)), None)
        error = last.error_message if last is not None and last.stop_reason == "error" else None
        await self.emit(AgentEndEvent(messages=new, error=error))
        return new

    async def run_turns(self, pending: Sequence[AgentMessage]) -> bool:
        """Take turns until there are no tool calls and no queued messages; return False to end the run."""
        while True:
            for message in pending:
                await self.emit_message(message)
            answer = await self.append_message(*await ask_model(self.context, self.config, self.signal, self.emit))
            if answer.stop_reason in ("error", "aborted"):
                await self.end_turn(answer, ())
                return False
            batch = self.tool_call_batch(answer) if answer.tool_calls else None
            results = await batch.run() if batch is not None else ()
            decision = await self.end_turn(answer, results)
            if decision == "end" or await self.should_stop():
                return False
            interrupted_by = batch.steering if batch is not None else ()
            pending = interrupted_by or await self.poll(self.config.get_steering_messages)
            has_results_to_send = batch is not None and not batch.terminates
            if not (has_results_to_send or pending or decision == "continue"):
                return True
            await self.begin_turn()

    def tool_call_batch(self, answer: AssistantMessage) -> ToolCallBatch:
        from pi_core.agent.tool_calls import ToolCallBatch  # many answers contain no calls

        return ToolCallBatch(answer, self.context, self.config, self.signal, self.emit, self.emit_message)

    async def begin_turn(self) -> None:
        await self.emit(TurnStartEvent(turn_index=self.turns, timestamp=now_ms()))

    async def end_turn(
        self, answer: AssistantMessage, results: tuple[ToolResultMessage, ...]
    ) -> Literal["end", "continue"] | None:
        decision = await self.config.finish_turn(answer, results, self.turns) if self.config.finish_turn else None
        await self.emit(TurnEndEvent(message=answer, tool_results=results, turn_index=self.turns))
        self.turns += 1
        return decision

    async def poll(self, queue: Poll) -> Sequence[AgentMessage]:
        """Return the due messages of a queue; none after an abort, so that they stay queued."""
        return () if self.signal.aborted else await queue()

    async def should_stop(self) -> bool:
        stop = self.config.should_stop_after_turn
        return stop is not None and await stop(self.context)

    async def emit_message(self, message: M) -> M:
        """Emit ``message_start`` for a message that was not streamed, and append it."""
        if self.config.admit_message is not None:
            message = await self.config.admit_message(message)
        await self.emit(MessageStartEvent(message=message))
        return await self.append_message(message)

    async def append_message(self, message: M, request_id: str = "") -> M:
        """Append a complete message to the transcript, as ``finish_message`` changed it, and emit ``message_end``."""
        if self.config.finish_message is not None:
            message = await self.config.finish_message(message)
        self.context.messages.append(message)
        self.new.append(message)
        await self.emit(MessageEndEvent(message=message, request_id=request_id))
        return message
