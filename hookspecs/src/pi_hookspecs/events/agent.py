"""Events of an agent run and of the prompt that started it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from pi_hookspecs.events.tools import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
    from pi_hookspecs.messages import AssistantMessage, ToolResultMessage
    from pi_hookspecs.rare_messages import AgentMessage
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = [
    "AgentEndEvent",
    "AgentEvent",
    "AgentSettledEvent",
    "AgentStartEvent",
    "MessageEndEvent",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "TurnEndEvent",
    "TurnStartEvent",
]


@frozen(kw_only=True, eq=False, repr=False)
class AgentStartEvent(ReprMixin):
    """A run begins."""

    type: ClassVar[Literal["agent_start"]] = "agent_start"


@frozen(kw_only=True, eq=False, repr=False)
class AgentEndEvent(ReprMixin):
    """A run has ended. ``messages`` are those that it added.

    ``will_retry`` is set if another run follows immediately; ``error`` is set if the run failed.
    """

    type: ClassVar[Literal["agent_end"]] = "agent_end"
    messages: tuple[AgentMessage, ...]
    will_retry: bool = False
    error: str | None = None


@frozen(kw_only=True, eq=False, repr=False)
class TurnStartEvent(ReprMixin):
    """A turn begins: one request and the tool calls of its answer. ``turn_index`` counts within the run, from 0."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    turn_index: int = field(default=0, metadata={"wire": False})
    timestamp: int = field(default=0, metadata={"wire": False})


@frozen(kw_only=True, eq=False, repr=False)
class TurnEndEvent(ReprMixin):
    """A turn has ended, with the answer and the results of its calls in the answer's order."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...] = ()
    turn_index: int = field(default=0, metadata={"wire": False})


@frozen(kw_only=True, eq=False, repr=False)
class MessageStartEvent(ReprMixin):
    """A message begins; an assistant message is still ``pending``.

    Attributes:
        request_id: Id of the request that the message answers; empty for other messages.
    """

    type: ClassVar[Literal["message_start"]] = "message_start"
    message: AgentMessage
    request_id: str = field(default="", metadata={"wire": False})


@frozen(kw_only=True, eq=False, repr=False)
class MessageUpdateEvent(ReprMixin):
    """The assistant's message has grown by one stream event.

    Attributes:
        request_id: Id of the request that the message answers.
    """

    type: ClassVar[Literal["message_update"]] = "message_update"
    assistant_message_event: AssistantMessageEvent
    request_id: str = field(default="", metadata={"wire": False})

    @property
    def message(self) -> AssistantMessage:
        """The message so far; built on access."""
        partial: AssistantMessage = self.assistant_message_event.partial  # type: ignore[union-attr]
        return partial


@frozen(kw_only=True, eq=False, repr=False)
class MessageEndEvent(ReprMixin):
    """A message is complete.

    Attributes:
        request_id: Id of the request that the message answers; empty for other messages.
    """

    type: ClassVar[Literal["message_end"]] = "message_end"
    message: AgentMessage
    request_id: str = field(default="", metadata={"wire": False})


AgentEvent: TypeAlias = (
    "AgentStartEvent | AgentEndEvent | TurnStartEvent | TurnEndEvent | MessageStartEvent | MessageUpdateEvent"
    " | MessageEndEvent | ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent"
)
"""Events that the agent loop emits."""


@frozen(kw_only=True, eq=False, repr=False)
class AgentSettledEvent(ReprMixin):
    """The prompt has been processed completely; once per prompt, after retries and queued messages."""

    type: ClassVar[Literal["agent_settled"]] = "agent_settled"
    aborted: bool = False
