"""Events of a run: the agent's own (pi.md 1.6) and the questions around a prompt (pi.md 10.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pi_hookspecs.content import ImageContent
    from pi_hookspecs.entries import SessionEntry
    from pi_hookspecs.events.tools import ToolExecutionEndEvent, ToolExecutionStartEvent, ToolExecutionUpdateEvent
    from pi_hookspecs.messages import AgentMessage, AssistantMessage, CustomMessage, ToolResultMessage
    from pi_hookspecs.models import Model, ThinkingLevel
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = [
    "AgentBeforeSettleEvent",
    "AgentBeforeSettleResult",
    "AgentEndEvent",
    "AgentEvent",
    "AgentSettledEvent",
    "AgentStartEvent",
    "BeforeAgentStartEvent",
    "BeforeAgentStartResult",
    "InputEvent",
    "InputResult",
    "MessageEndEvent",
    "MessageEndResult",
    "MessageStartEvent",
    "MessageUpdateEvent",
    "ModelSelectEvent",
    "NewEntry",
    "ThinkingLevelSelectEvent",
    "TurnEndEvent",
    "TurnEndResult",
    "TurnStartEvent",
]


@frozen(kw_only=True, eq=False)
class AgentStartEvent:
    """A run begins."""

    type: ClassVar[Literal["agent_start"]] = "agent_start"


@frozen(kw_only=True, eq=False)
class AgentEndEvent:
    """A run is over. ``messages`` are the new ones of this run.

    ``will_retry`` says that another run follows at once; ``error`` is set when the run ended in one
    (decision D38).
    """

    type: ClassVar[Literal["agent_end"]] = "agent_end"
    messages: tuple[AgentMessage, ...]
    will_retry: bool = False
    error: str | None = None


@frozen(kw_only=True, eq=False)
class TurnStartEvent:
    """A turn begins: one request and the calls it leads to. ``turn_index`` counts within the run, from 0."""

    type: ClassVar[Literal["turn_start"]] = "turn_start"
    turn_index: int = field(default=0, metadata={"wire": False})
    timestamp: int = field(default=0, metadata={"wire": False})


@frozen(kw_only=True, eq=False)
class TurnEndEvent:
    """A turn is over, with the answer and the results of its calls in the answer's order."""

    type: ClassVar[Literal["turn_end"]] = "turn_end"
    message: AssistantMessage
    tool_results: tuple[ToolResultMessage, ...] = ()
    turn_index: int = field(default=0, metadata={"wire": False})


@frozen(kw_only=True, eq=False)
class MessageStartEvent:
    """A message begins; an assistant message is still ``pending``."""

    type: ClassVar[Literal["message_start"]] = "message_start"
    message: AgentMessage


@frozen(kw_only=True, eq=False)
class MessageUpdateEvent:
    """The assistant's message grew by one stream event."""

    type: ClassVar[Literal["message_update"]] = "message_update"
    assistant_message_event: AssistantMessageEvent

    @property
    def message(self) -> AssistantMessage:
        """The message so far; made when it is looked at."""
        partial: AssistantMessage = self.assistant_message_event.partial  # type: ignore[union-attr]
        return partial


@frozen(kw_only=True, eq=False)
class MessageEndEvent:
    """A message is complete."""

    type: ClassVar[Literal["message_end"]] = "message_end"
    message: AgentMessage


@frozen(kw_only=True)
class MessageEndResult:
    """Replaces the message that has ended, by one of the same role."""

    message: AgentMessage | None = None

    def problem(self, event: MessageEndEvent) -> str | None:
        """Say what is wrong with the message."""
        role = getattr(self.message, "role", None)
        if self.message is None or role == event.message.role:
            return None
        return f"answered a message of role {role!r} for one of role {event.message.role!r}"


AgentEvent: TypeAlias = (
    "AgentStartEvent | AgentEndEvent | TurnStartEvent | TurnEndEvent | MessageStartEvent | MessageUpdateEvent"
    " | MessageEndEvent | ToolExecutionStartEvent | ToolExecutionUpdateEvent | ToolExecutionEndEvent"
)
"""What the loop emits."""


def _no_message(value: object) -> bool:
    return not isinstance(getattr(value, "role", None), str)


@frozen(kw_only=True, eq=False)
class InputEvent:
    """The user said something. ``source`` is ``interactive``, ``rpc`` or ``extension``.

    ``streaming_behavior`` says how it is to be queued when a run is going on.
    """

    type: ClassVar[Literal["input"]] = "input"
    text: str
    images: tuple[ImageContent, ...] = ()
    source: str = "interactive"
    streaming_behavior: Literal["steer", "followUp"] | None = None


@frozen(kw_only=True)
class InputResult:
    """Other text or images, or ``handled=True``: the prompt ends here, no model is asked."""

    text: str | None = None
    images: tuple[ImageContent, ...] | None = None
    handled: bool = False

    def problem(self, event: InputEvent) -> str | None:
        """Say what is wrong with the text."""
        del event
        text: object = self.text
        return None if isinstance(text, str | None) else f"answered text={text!r:.60}, which is no text"


@frozen(kw_only=True, eq=False)
class BeforeAgentStartEvent:
    """A prompt is about to run, with this system prompt."""

    type: ClassVar[Literal["before_agent_start"]] = "before_agent_start"
    prompt: str
    images: tuple[ImageContent, ...] = ()
    system_prompt: str = ""


def _messages(messages: Iterable[CustomMessage]) -> tuple[CustomMessage, ...]:
    return tuple(messages)  # a plain ``tuple`` tells type checkers nothing of what goes in


@frozen(kw_only=True)
class BeforeAgentStartResult:
    """Messages to add after the user's, and another system prompt, for this run."""

    messages: tuple[CustomMessage, ...] = field(default=(), converter=_messages)
    system_prompt: str | None = None

    def problem(self, event: BeforeAgentStartEvent) -> str | None:
        """Say what is wrong with messages or prompt."""
        del event
        prompt: object = self.system_prompt
        if not isinstance(prompt, str | None):
            return f"answered system_prompt={prompt!r:.60}, which is no text"
        return next(
            (f"answered {each!r:.60}, which is no message" for each in self.messages if _no_message(each)), None
        )


@frozen(kw_only=True)
class NewEntry:
    """An entry that a plugin wants appended: outside the model's context, or with ``content`` inside it."""

    custom_type: str
    data: Any = None
    content: str | None = None
    display: bool = True


def _entries(entries: Iterable[NewEntry]) -> tuple[NewEntry, ...]:
    return tuple(entries)


def _no_entry(entries: tuple[Any, ...]) -> str | None:
    wrong = next((each for each in entries if not isinstance(each, NewEntry)), None)
    return None if wrong is None else f"answered {wrong!r:.60} among the entries, which is no NewEntry"


@frozen(kw_only=True)
class TurnEndResult:
    """What a plugin wants done before the next turn.

    ``continue_`` guarantees one more request when nothing else causes one.
    """

    entries: tuple[NewEntry, ...] = field(default=(), converter=_entries)
    continue_: bool | None = None

    def problem(self, event: TurnEndEvent) -> str | None:
        """Say what is wrong with the entries."""
        del event
        return _no_entry(self.entries)


@frozen(kw_only=True, eq=False)
class AgentBeforeSettleEvent:
    """The run ended and nothing is queued: the last place to act before the prompt resolves.

    ``outcome`` is ``completed``, ``error`` or ``aborted``; ``entries`` are the branch.
    """

    type: ClassVar[Literal["agent_before_settle"]] = "agent_before_settle"
    outcome: Literal["completed", "error", "aborted"]
    messages: Sequence[AgentMessage] = ()
    entries: Sequence[SessionEntry] = ()


@frozen(kw_only=True)
class AgentBeforeSettleResult:
    """Entries to append, and whether to run on from the transcript as it then is."""

    entries: tuple[NewEntry, ...] = field(default=(), converter=_entries)
    continue_: bool | None = None

    def problem(self, event: AgentBeforeSettleEvent) -> str | None:
        """Say what is wrong with the entries."""
        del event
        return _no_entry(self.entries)


@frozen(kw_only=True, eq=False)
class AgentSettledEvent:
    """The prompt is done, once per prompt, after retries and queued messages."""

    type: ClassVar[Literal["agent_settled"]] = "agent_settled"
    aborted: bool = False


@frozen(kw_only=True, eq=False)
class ModelSelectEvent:
    """Another model answers from now on. ``source`` is ``set``, ``cycle`` or ``restore``."""

    type: ClassVar[Literal["model_select"]] = "model_select"
    model: Model
    previous_model: Model | None = None
    source: Literal["set", "cycle", "restore"] = "set"


@frozen(kw_only=True, eq=False)
class ThinkingLevelSelectEvent:
    """The model thinks more or less from now on."""

    type: ClassVar[Literal["thinking_level_select"]] = "thinking_level_select"
    level: ThinkingLevel
    previous_level: ThinkingLevel
