"""The state of an agent, updated from the events of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from attrs import evolve

from pi_hookspecs import AssistantMessage, MessageEndEvent, TextContent, ToolCall, TurnEndEvent

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


class AgentState:
    """The configuration, the conversation and the current activity of an agent. Lists are copied when assigned.

    Attributes:
        partial_event: The latest event of the message that is being received; None between messages.
        error_message: Why the last turn failed.
    """

    # Not a class of attrs: with a converter for the two sequences, each assignment of ``partial_event`` would be four
    # calls more, for each delta of an answer.
    __slots__ = (
        *("_messages", "_pending", "_tools", "error_message", "is_streaming", "model", "partial_event"),
        *("system_prompt", "thinking_level"),
    )

    def __init__(
        self,
        system_prompt: str = "",
        model: Model | None = None,
        thinking_level: ThinkingLevel = "off",
        tools: Iterable[Tool] = (),
        messages: Iterable[AgentMessage] = (),
    ) -> None:
        self.system_prompt = system_prompt
        self.model = model
        self.thinking_level: ThinkingLevel = thinking_level
        self.tools = tools
        self.messages = messages
        self.is_streaming = False
        self._pending: set[str] = set()
        self.error_message: str | None = None
        self.partial_event: Any = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that the model is offered."""
        return self._tools

    @tools.setter
    def tools(self, tools: Iterable[Tool]) -> None:
        self._tools = tuple(tools)

    @property
    def messages(self) -> list[AgentMessage]:
        """The conversation."""
        return self._messages

    @messages.setter
    def messages(self, messages: Iterable[AgentMessage]) -> None:
        self._messages = list(messages)

    @property
    def pending_tool_calls(self) -> frozenset[str]:
        """Ids of the tool calls that are running."""
        return frozenset(self._pending)

    def __repr__(self) -> str:
        shown = ("model", "thinking_level", "is_streaming", "pending_tool_calls", "error_message")
        fields = (f"{name}={getattr(self, name)!r}" for name in shown)
        return f"AgentState({', '.join(fields)}, {len(self.tools)} tools, {len(self.messages)} messages)"

    @property
    def streaming_message(self) -> AgentMessage | None:
        """The part of the current message that has been received; None between messages."""
        return cast("AgentMessage", self.partial_event.message) if self.partial_event is not None else None

    def broken_answer(self, model: Model) -> AssistantMessage:
        """Return the partial answer without its tool calls; an empty answer if none is being received."""
        partial = self.streaming_message
        if isinstance(partial, AssistantMessage):
            return evolve(partial, content=tuple(block for block in partial.content if not isinstance(block, ToolCall)))
        return AssistantMessage(
            content=(TextContent(""),), api=model.api, provider=model.provider, model=model.id, stop_reason="pending"
        )

    def update(self, event: AgentEvent) -> None:
        """Apply an event of the run; a ``message_update`` changes only ``partial_event``."""
        kind = event.type
        if kind in ("message_update", "message_start"):
            self.partial_event = event
        elif isinstance(event, MessageEndEvent):
            self.partial_event = None
            self.messages.append(event.message)
        elif kind == "tool_execution_start":  # by name, as a run without calls does not load these classes
            self._pending.add(cast("ToolExecutionStartEvent", event).tool_call_id)
        elif kind == "tool_execution_end":
            self._pending.discard(cast("ToolExecutionEndEvent", event).tool_call_id)
        elif isinstance(event, TurnEndEvent):
            self.error_message = event.message.error_message

    def begin_run(self) -> None:
        """Mark the start of a run."""
        self.is_streaming = True
        self.error_message = None

    def end_run(self) -> None:
        """Mark the end of a run, and clear its temporary state."""
        self.is_streaming = False
        self.partial_event = None
        self._pending.clear()
