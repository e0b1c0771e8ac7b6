"""The 35 commands of the protocol, one class each: its fields, and the type of its result.

pi parses requests with these classes, the client serialises them, its methods take their fields, and the JSON schemas
are generated from them. A field is given by its name or by its place, as an argument of the method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeVar, cast

from attrs import field, frozen

from pi_client import values
from pi_client.fields import FLAG, INTEGER, TEXT, Kind, Record, choice, list_of, record, wire
from pi_client.values import LEVEL, MODE, MODEL, Image, JsonObject, QueueMode, ThinkingLevel

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "COMMANDS",
    "Abort",
    "AbortBash",
    "AbortRetry",
    "Bash",
    "ClearQueue",
    "Clone",
    "Compact",
    "CycleModel",
    "CycleThinkingLevel",
    "ExportHtml",
    "FollowUp",
    "Fork",
    "GetAvailableModels",
    "GetAvailableThinkingLevels",
    "GetCommands",
    "GetEntries",
    "GetForkMessages",
    "GetLastAssistantText",
    "GetMessages",
    "GetSessionStats",
    "GetState",
    "GetTree",
    "NavigateTree",
    "NewSession",
    "Prompt",
    "Request",
    "SetAutoCompaction",
    "SetAutoRetry",
    "SetFollowUpMode",
    "SetModel",
    "SetSessionName",
    "SetSteeringMode",
    "SetThinkingLevel",
    "Steer",
    "SwitchSession",
    "TakeQueued",
]

R = TypeVar("R")

_IMAGES = list_of(record(Image))


class _AnyImage(Protocol):
    """An image of this package, or of a message of pi."""

    @property
    def data(self) -> str: ...
    @property
    def mime_type(self) -> str: ...


def _images(images: Sequence[_AnyImage]) -> tuple[Image, ...]:
    return tuple(Image(data=each.data, mime_type=each.mime_type) for each in images)


class Request(Record, Generic[R]):
    """A command; ``R`` is the type of its result.

    Attributes:
        type: The command's name.
        result: The kind of the response's data; None when it has none.
        may_be_null: Whether the data may be ``null``.
    """

    type: ClassVar[str]
    result: ClassVar[Kind | None] = None
    may_be_null: ClassVar[bool] = False

    def read_answer(self, data: Any) -> R:
        """Return the response's data as a value.

        Raises:
            Mismatch: The data has the wrong shape.
        """
        if self.result is None or (data is None and self.may_be_null):
            return cast("R", None)
        return cast("R", self.result.read(data))


# Prompting


@frozen
class _MessageRequest(Request[values.Disposition]):
    result = record(values.Disposition)
    message: str = field(metadata=wire(TEXT))
    images: tuple[Image, ...] = field(default=(), converter=_images, metadata=wire(_IMAGES))


@frozen
class Prompt(_MessageRequest):
    """Send a prompt; during a run ``streaming_behavior`` says how to queue it."""

    type = "prompt"
    streaming_behavior: Literal["steer", "followUp"] | None = field(
        default=None, kw_only=True, metadata=wire(choice("steer", "followUp"))
    )


@frozen
class Steer(_MessageRequest):
    """Queue a message for before the next request."""

    type = "steer"


@frozen
class FollowUp(_MessageRequest):
    """Queue a message for when the agent would otherwise stop."""

    type = "follow_up"


@frozen
class Abort(Request[None]):
    """Stop the prompt that is being answered; answered when it has settled."""

    type = "abort"


@frozen
class ClearQueue(Request[values.Queue]):
    """Clear the queues; the response has their messages."""

    type = "clear_queue"
    result = record(values.Queue)


@frozen
class TakeQueued(Request[values.TakenMessage]):
    """Take one message out of a queue, for editing; ``place`` counts from 0, the message that is delivered first."""

    type = "take_queued"
    result = record(values.TakenMessage)
    queue: Literal["steer", "followUp"] = field(metadata=wire(choice("steer", "followUp")))
    place: int = field(metadata=wire(INTEGER))


# State


@frozen
class GetState(Request[values.State]):
    """Get the session's state."""

    type = "get_state"
    result = record(values.State)


@frozen
class GetMessages(Request[values.Messages]):
    """Get the conversation."""

    type = "get_messages"
    result = record(values.Messages)


@frozen
class GetSessionStats(Request[values.Stats]):
    """Get the session's tokens and cost."""

    type = "get_session_stats"
    result = record(values.Stats)


@frozen
class GetLastAssistantText(Request[values.LastText]):
    """Get the text of the last answer."""

    type = "get_last_assistant_text"
    result = record(values.LastText)


@frozen
class GetCommands(Request[values.CommandList]):
    """Get the slash commands."""

    type = "get_commands"
    result = record(values.CommandList)


# Model and thinking


@frozen
class SetModel(Request[JsonObject]):
    """Select a model; the response has it."""

    type = "set_model"
    result = MODEL
    provider: str = field(metadata=wire(TEXT))
    model_id: str = field(metadata=wire(TEXT))


@frozen
class CycleModel(Request[values.ModelCycle | None]):
    """Select the next model; null if there is no other."""

    type = "cycle_model"
    result = record(values.ModelCycle)
    may_be_null = True


@frozen
class GetAvailableModels(Request[values.Models]):
    """Get the models that can be used."""

    type = "get_available_models"
    result = record(values.Models)


@frozen
class SetThinkingLevel(Request[None]):
    """Set the reasoning effort, limited to what the model supports."""

    type = "set_thinking_level"
    level: ThinkingLevel = field(metadata=wire(LEVEL))


@frozen
class CycleThinkingLevel(Request[values.ThinkingChoice | None]):
    """Select the next thinking level; null if there is no other."""

    type = "cycle_thinking_level"
    result = record(values.ThinkingChoice)
    may_be_null = True


@frozen
class GetAvailableThinkingLevels(Request[values.ThinkingLevels]):
    """Get the thinking levels that the model supports."""

    type = "get_available_thinking_levels"
    result = record(values.ThinkingLevels)


# Queues, compaction, retries


@frozen
class SetSteeringMode(Request[None]):
    """Deliver queued steering messages one per turn, or all at once."""

    type = "set_steering_mode"
    mode: QueueMode = field(metadata=wire(MODE))


@frozen
class SetFollowUpMode(Request[None]):
    """Deliver queued follow-ups one per turn, or all at once."""

    type = "set_follow_up_mode"
    mode: QueueMode = field(metadata=wire(MODE))


@frozen
class Compact(Request[values.Compaction]):
    """Compact the conversation; a run in progress is aborted first."""

    type = "compact"
    result = record(values.Compaction)
    custom_instructions: str | None = field(default=None, metadata=wire(TEXT))


@frozen
class SetAutoCompaction(Request[None]):
    """Turn automatic compaction on or off."""

    type = "set_auto_compaction"
    enabled: bool = field(metadata=wire(FLAG))


@frozen
class SetAutoRetry(Request[None]):
    """Turn automatic retries of failed requests on or off."""

    type = "set_auto_retry"
    enabled: bool = field(metadata=wire(FLAG))


@frozen
class AbortRetry(Request[None]):
    """Cancel the pending retry."""

    type = "abort_retry"


@frozen
class Bash(Request[values.BashResult]):
    """Run a command of the user; its output reaches the model with the next prompt, unless it is excluded."""

    type = "bash"
    result = record(values.BashResult)
    command: str = field(metadata=wire(TEXT))
    exclude_from_context: bool = field(default=False, kw_only=True, metadata=wire(FLAG))


@frozen
class AbortBash(Request[None]):
    """Stop the user's running commands."""

    type = "abort_bash"


# Sessions


@frozen
class NewSession(Request[values.Cancelled]):
    """Start a new session."""

    type = "new_session"
    result = record(values.Cancelled)
    parent_session: str | None = field(default=None, metadata=wire(TEXT))


@frozen
class SwitchSession(Request[values.Cancelled]):
    """Switch to a stored session, or to a new one if nothing is stored at the path."""

    type = "switch_session"
    result = record(values.Cancelled)
    session_path: str = field(metadata=wire(TEXT))


@frozen
class Fork(Request[values.Fork]):
    """Switch to a copy of the conversation that ends before a user message."""

    type = "fork"
    result = record(values.Fork)
    entry_id: str = field(metadata=wire(TEXT))


@frozen
class Clone(Request[values.Cancelled]):
    """Switch to a copy of the active branch."""

    type = "clone"
    result = record(values.Cancelled)


@frozen
class GetForkMessages(Request[values.ForkMessages]):
    """Get the user messages that can be forked from."""

    type = "get_fork_messages"
    result = record(values.ForkMessages)


@frozen
class GetEntries(Request[values.Entries]):
    """Get the session's entries, all or those after ``since``."""

    type = "get_entries"
    result = record(values.Entries)
    since: str | None = field(default=None, metadata=wire(TEXT))


@frozen
class GetTree(Request[values.Tree]):
    """Get the session's tree."""

    type = "get_tree"
    result = record(values.Tree)


@frozen
class NavigateTree(Request[values.TreeMove]):
    """Continue from another entry, for a user message from before it; ``summarize`` sums up the branch that is left."""

    type = "navigate_tree"
    result = record(values.TreeMove)
    entry_id: str = field(metadata=wire(TEXT))
    summarize: bool = field(default=False, kw_only=True, metadata=wire(FLAG))


@frozen
class SetSessionName(Request[None]):
    """Name the session."""

    type = "set_session_name"
    name: str = field(metadata=wire(TEXT))


@frozen
class ExportHtml(Request[values.ExportedFile]):
    """Write the session as an HTML page."""

    type = "export_html"
    result = record(values.ExportedFile)
    output_path: str | None = field(default=None, metadata=wire(TEXT))


_CLASSES = [each for each in vars().copy().values() if isinstance(each, type) and issubclass(each, Request)]

COMMANDS: dict[str, type[Request[Any]]] = {each.type: each for each in _CLASSES if hasattr(each, "type")}
"""The commands by name, in the order in which they are documented."""
