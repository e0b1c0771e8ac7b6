"""The agent loop: context -> provider -> tools -> again, until the model has nothing left to do.

It knows messages, tools, a stream function and callbacks; it does not know sessions, files, settings or
terminals. Read it from ``run_loop`` down (document 000, section 2).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from attrs import Factory, define, field, frozen

from pi_core._model_request import ask_model
from pi_core.convert import default_convert_to_llm
from pi_core.event_stream import EventStream
from pi_core.tools.validation import ArgumentValidator
from pi_hookspecs import (
    AbortSignal,
    AgentEndEvent,
    AgentStartEvent,
    AssistantMessage,
    MessageEndEvent,
    MessageStartEvent,
    PiError,
    StreamOptions,
    TurnEndEvent,
    TurnStartEvent,
    now_ms,
)
from pi_hookspecs.values import Shown

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_core.tools._calls import AfterToolCall, BeforeToolCall, ToolCallBatch
    from pi_hookspecs import (
        AgentEvent,
        AgentMessage,
        Message,
        Model,
        StreamFunction,
        Tool,
        ToolCall,
        ToolCallResult,
        ToolContext,
        ToolResult,
        ToolResultMessage,
        ToolUpdate,
    )

__all__ = ["AgentContext", "LoopCallbacks", "LoopConfig", "agent_loop", "agent_loop_continue", "run_loop"]

M = TypeVar("M", bound="AgentMessage")
Emit: TypeAlias = "Callable[[AgentEvent], Awaitable[None]]"
Poll: TypeAlias = "Callable[[], Awaitable[Sequence[AgentMessage]]]"


@define(eq=False, repr=False)
class AgentContext(Shown):
    """What the model is told, as it grows during a run."""

    system_prompt: str = ""
    messages: list[AgentMessage] = field(factory=list)
    tools: tuple[Tool, ...] = ()


async def _nothing() -> Sequence[AgentMessage]:
    return ()


@frozen(kw_only=True, eq=False, repr=False)
class LoopCallbacks(Shown):
    """What the loop asks of its surroundings, whoever the model is.

    Attributes:
        convert_to_llm: Our messages to the model's; must not raise.
        transform_context: Changes the messages of one request, before conversion.
        get_api_key: Asked before every request, by provider id; falls back on ``options.api_key``.
        prepare_request: Asked last before every request: returns model and options as they go to the provider.
        before_tool_call: May refuse a call or change its arguments; raising refuses.
        after_tool_call: May replace a result; raising makes it an error.
        finish_message: May replace a message, by one of the same role, before it is part of the transcript.
        finish_turn: Asked before ``turn_end``, with the turn's number: ``"end"`` stops without polling
            the queues, ``"continue"`` guarantees one more request.
        should_stop_after_turn: Asked after ``turn_end``: stops before the queues are polled.
        tool_context: Makes the ``ctx`` of one call.
        tool_execution: ``parallel`` or ``sequential`` (decision D1).
        steering_interrupt: ``wait`` lets a batch of calls finish, ``skip`` polls after each call and
            skips the rest; None follows ``tool_execution`` (decision D2).
    """

    convert_to_llm: Callable[[Sequence[AgentMessage]], Sequence[Message]] = default_convert_to_llm
    transform_context: Callable[[Sequence[AgentMessage], AbortSignal], Awaitable[Sequence[AgentMessage]]] | None = None
    get_api_key: Callable[[str], Awaitable[str | None]] | None = None
    prepare_request: Callable[[Model, StreamOptions], Awaitable[tuple[Model, StreamOptions]]] | None = None
    before_tool_call: Callable[[BeforeToolCall, AbortSignal], Awaitable[ToolCallResult | None]] | None = None
    after_tool_call: Callable[[AfterToolCall, AbortSignal], Awaitable[ToolResult | None]] | None = None
    finish_message: Callable[[Any], Awaitable[Any]] | None = None
    finish_turn: (
        Callable[[AssistantMessage, tuple[ToolResultMessage, ...], int], Awaitable[Literal["end", "continue"] | None]]
        | None
    ) = None
    should_stop_after_turn: Callable[[AgentContext], Awaitable[bool]] | None = None
    tool_context: Callable[[ToolCall, ToolUpdate], ToolContext] | None = None
    tool_execution: Literal["parallel", "sequential"] = "parallel"
    steering_interrupt: Literal["wait", "skip"] | None = None

    @property
    def skips_on_steering(self) -> bool:
        """Whether queued messages make the rest of a batch be skipped."""
        return (self.steering_interrupt or _DEFAULT_INTERRUPT[self.tool_execution]) == "skip"


@frozen(kw_only=True, eq=False, repr=False)
class LoopConfig(LoopCallbacks):
    """One run: the callbacks, who answers, and what is queued.

    Attributes:
        model: Who answers.
        stream: The provider's ``stream``.
        options: What every request is made with; the signal and the key are added.
        get_steering_messages: Polled at the start and after every turn.
        get_follow_up_messages: Polled when the agent would otherwise stop.
        validator: Keeps the compiled schemas of the tools.
    """

    model: Model
    stream: StreamFunction
    options: StreamOptions = Factory(StreamOptions)
    get_steering_messages: Poll = _nothing
    get_follow_up_messages: Poll = _nothing
    validator: ArgumentValidator = Factory(ArgumentValidator)


_DEFAULT_INTERRUPT = {"parallel": "wait", "sequential": "skip"}


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


async def run_loop(
    prompts: Sequence[AgentMessage], context: AgentContext, config: LoopConfig, signal: AbortSignal, emit: Emit
) -> tuple[AgentMessage, ...]:
    """Run until the model is done and return the new messages. ``emit`` is awaited for every event, in order."""
    return await _Run(context, config, signal, emit).run(prompts)


@define(eq=False, repr=False)
class _Run(Shown):
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
        from pi_core.tools._calls import ToolCallBatch  # many answers have no calls

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
