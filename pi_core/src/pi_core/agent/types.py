"""The types that the loop, a model request and a batch of tool calls share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import Factory

from pi_core.agent.convert import default_convert_to_llm
from pi_core.agent.validation import ArgumentValidator
from pi_hookspecs import StreamOptions
from pi_hookspecs.deferred import define, field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pi_hookspecs import (
        AbortSignal,
        AgentEvent,
        AgentMessage,
        AssistantMessage,
        Context,
        Message,
        Model,
        StreamFunction,
        ThinkingLevel,
        Tool,
        ToolCall,
        ToolCallResult,
        ToolContext,
        ToolResult,
        ToolResultMessage,
        ToolUpdate,
    )

__all__ = [
    "AfterToolCall",
    "AgentContext",
    "BeforeToolCall",
    "Emit",
    "LoopCallbacks",
    "LoopConfig",
    "Poll",
    "RouteCallback",
]

Emit: TypeAlias = "Callable[[AgentEvent], Awaitable[None]]"
Poll: TypeAlias = "Callable[[], Awaitable[Sequence[AgentMessage]]]"
RouteCallback: TypeAlias = (
    "Callable[[Model, ThinkingLevel, Sequence[Message], Sequence[AgentMessage], AbortSignal],"
    " Awaitable[tuple[Model, ThinkingLevel]]]"
)


@define(eq=False, repr=False)
class AgentContext(ReprMixin):
    """The system prompt, the conversation and the tools of a run. The run appends to the conversation."""

    system_prompt: str = ""
    messages: list[AgentMessage] = field(factory=list)
    tools: tuple[Tool, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class BeforeToolCall(ReprMixin):
    """A tool call that is about to run; ``args`` is a copy of the validated arguments."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    tool: Tool
    args: dict[str, Any]
    context: AgentContext


@frozen(kw_only=True, eq=False, repr=False)
class AfterToolCall(ReprMixin):
    """A tool call that has run."""

    assistant_message: AssistantMessage
    tool_call: ToolCall
    args: dict[str, Any]
    result: ToolResult
    context: AgentContext


async def _nothing() -> Sequence[AgentMessage]:
    return ()


@frozen(kw_only=True, eq=False, repr=False)
class LoopCallbacks(ReprMixin):
    """The callbacks of the loop.

    Attributes:
        convert_to_llm: Converts the agent's messages to the model's; must not raise.
        transform_context: Returns the messages of one request; called before ``convert_to_llm``.
        get_api_key: Returns the API key for a provider's id; called before every request. If it returns None,
            ``options.api_key`` is used.
        route_request: Called before each request to a virtual model, with the request's and the agent's messages;
            returns the model that answers it, and its thinking level.
        begin_request: Called with a request's id, model and context before ``prepare_request``; raising refuses it.
        prepare_request: Returns the model and the options of a request; the last callback before every request.
        end_request: Called with the answer of each request that was begun, including failed and aborted requests.
        before_tool_call: May refuse a call, change its arguments or supply its result; raising refuses it.
        after_tool_call: May replace a result; raising makes it an error.
        admit_message: Called with each message that is not an answer, before ``message_start``; may replace it with
            another message of the same role.
        finish_message: May replace a message with another message of the same role, before it is appended to the
            transcript.
        finish_turn: Called before ``turn_end``, with the turn's number: ``"end"`` stops without polling
            the queues, ``"continue"`` guarantees one more request.
        should_stop_after_turn: Called after ``turn_end``: true stops before the queues are polled.
        tool_context: Returns the ``ctx`` of one call.
        on_tool_raise: Called with an exception that a tool raised, before the exception becomes the call's result. If
            the callback raises, the run fails.
        tool_execution: ``parallel`` or ``sequential``.
        steering_interrupt: ``wait`` lets a batch of calls finish; ``skip`` polls for messages after each call and, if
            there are any, skips the remaining calls. None means ``wait`` for ``parallel`` and ``skip`` for
            ``sequential``.
    """

    convert_to_llm: Callable[[Sequence[AgentMessage]], Sequence[Message]] = default_convert_to_llm
    transform_context: Callable[[Sequence[AgentMessage], AbortSignal], Awaitable[Sequence[AgentMessage]]] | None = None
    get_api_key: Callable[[str], Awaitable[str | None]] | None = None
    route_request: RouteCallback | None = None
    begin_request: Callable[[str, Model, Context], Awaitable[None]] | None = None
    prepare_request: Callable[[Model, StreamOptions], Awaitable[tuple[Model, StreamOptions]]] | None = None
    end_request: Callable[[AssistantMessage], Awaitable[None]] | None = None
    before_tool_call: Callable[[BeforeToolCall, AbortSignal], Awaitable[ToolCallResult | None]] | None = None
    after_tool_call: Callable[[AfterToolCall, AbortSignal], Awaitable[ToolResult | None]] | None = None
    admit_message: Callable[[Any], Awaitable[Any]] | None = None
    finish_message: Callable[[Any], Awaitable[Any]] | None = None
    finish_turn: (
        Callable[[AssistantMessage, tuple[ToolResultMessage, ...], int], Awaitable[Literal["end", "continue"] | None]]
        | None
    ) = None
    should_stop_after_turn: Callable[[AgentContext], Awaitable[bool]] | None = None
    tool_context: Callable[[ToolCall, ToolUpdate], ToolContext] | None = None
    on_tool_raise: Callable[[BaseException], object] | None = None
    tool_execution: Literal["parallel", "sequential"] = "parallel"
    steering_interrupt: Literal["wait", "skip"] | None = None

    @property
    def skips_on_steering(self) -> bool:
        """Whether queued steering messages cause the remaining calls of a batch to be skipped."""
        return (self.steering_interrupt or _DEFAULT_INTERRUPT[self.tool_execution]) == "skip"


@frozen(kw_only=True, eq=False, repr=False)
class LoopConfig(LoopCallbacks):
    """The configuration of one run: callbacks, model, and queues.

    Attributes:
        model: The model that requests are sent to.
        stream: The provider's ``stream``.
        options: Options of every request; the abort signal and the API key are added.
        get_steering_messages: Polled at the start and after every turn.
        get_follow_up_messages: Polled when the agent would otherwise stop.
        validator: Validates tool calls; caches the compiled schemas of the tools.
    """

    model: Model
    stream: StreamFunction
    options: StreamOptions = Factory(StreamOptions)
    get_steering_messages: Poll = _nothing
    get_follow_up_messages: Poll = _nothing
    validator: ArgumentValidator = Factory(ArgumentValidator)


_DEFAULT_INTERRUPT = {"parallel": "wait", "sequential": "skip"}
