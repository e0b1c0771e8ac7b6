"""What an agent is and does now, kept in step with the events of its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import define, evolve, field

from pi_hookspecs import AssistantMessage, MessageEndEvent, TextContent, ToolCall, TurnEndEvent
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pi_hookspecs import (
        AgentEvent,
        AgentMessage,
        Model,
        ThinkingLevel,
        Tool,
        ToolExecutionEndEvent,
        ToolExecutionStartEvent,
    )

__all__ = ["AgentState"]


def _tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    return tuple(tools)


def _messages(messages: Iterable[AgentMessage]) -> list[AgentMessage]:
    return list(messages)


@define(eq=False, repr=False)
class AgentState(ReprMixin):
    """What the agent is and does now. Lists are copied when assigned.

    Attributes:
        pending_tool_calls: Ids of calls that run now.
        partial_event: The latest event of the message that is being received; None between messages.
        error_message: Why the last turn failed.
    """

    system_prompt: str = ""
    model: Model | None = None
    thinking_level: ThinkingLevel = "off"
    tools: tuple[Tool, ...] = field(default=(), converter=_tools)
    messages: list[AgentMessage] = field(factory=list, converter=_messages)
    is_streaming: bool = False
    pending_tool_calls: frozenset[str] = frozenset()
    error_message: str | None = None
    partial_event: Any = field(default=None, repr=False)

    @property
    def streaming_message(self) -> AgentMessage | None:
        """What was received so far of the message that is being received; None between messages."""
        return cast("AgentMessage", self.partial_event.message) if self.partial_event is not None else None

    def broken_answer(self, model: Model) -> AssistantMessage:
        """Return what was received of the answer in the making, without tool calls; an empty one where nothing was."""
        begun = self.streaming_message
        if isinstance(begun, AssistantMessage):
            return evolve(begun, content=tuple(block for block in begun.content if not isinstance(block, ToolCall)))
        return AssistantMessage(
            content=(TextContent(""),), api=model.api, provider=model.provider, model=model.id, stop_reason="pending"
        )

    def update(self, event: AgentEvent) -> None:
        """Apply an event of the run; a ``message_update`` changes ``partial_event`` alone."""
        kind = event.type
        if kind in ("message_update", "message_start"):
            self.partial_event = event
        elif isinstance(event, MessageEndEvent):
            self.partial_event = None
            self.messages.append(event.message)
        elif kind == "tool_execution_start":  # by name: a run without calls does not load these classes
            self.pending_tool_calls |= {cast("ToolExecutionStartEvent", event).tool_call_id}
        elif kind == "tool_execution_end":
            self.pending_tool_calls -= {cast("ToolExecutionEndEvent", event).tool_call_id}
        elif isinstance(event, TurnEndEvent):
            self.error_message = event.message.error_message

    def begin_run(self) -> None:
        """A run begins."""
        self.is_streaming = True
        self.error_message = None

    def end_run(self) -> None:
        """The run is over, however it ended."""
        self.is_streaming = False
        self.partial_event = None
        self.pending_tool_calls = frozenset()
