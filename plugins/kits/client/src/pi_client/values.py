"""Results of commands, as values. Messages, models and session entries stay JSON objects, as received."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from pi_client.fields import (
    FLAG,
    INTEGER,
    NUMBER,
    OBJECT,
    TEXT,
    Mismatch,
    Record,
    choice,
    list_of,
    object_with,
    record,
    wire,
)

__all__ = [
    "BashResult",
    "Cancelled",
    "Command",
    "CommandList",
    "Compaction",
    "ContextUsage",
    "Disposition",
    "Entries",
    "ExportedFile",
    "Fork",
    "ForkMessage",
    "ForkMessages",
    "Image",
    "JsonObject",
    "LastText",
    "Messages",
    "ModelCycle",
    "Models",
    "Queue",
    "QueueMode",
    "State",
    "Stats",
    "ThinkingChoice",
    "ThinkingLevel",
    "ThinkingLevels",
    "Tokens",
    "Tree",
]

JsonObject: TypeAlias = dict[str, Any]
ThinkingLevel: TypeAlias = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
QueueMode: TypeAlias = Literal["all", "one-at-a-time"]

LEVEL = choice("off", "minimal", "low", "medium", "high", "xhigh", "max")
MODE = choice("all", "one-at-a-time")
MODEL = object_with("id", "name", "api", "provider", "reasoning", "input", "contextWindow", "maxTokens", "cost")
MESSAGE = object_with("role", role={"type": "string"})
ENTRY = object_with("type", "id", type={"type": "string"}, id={"type": "string"})
NODE = object_with(
    "entry",
    "children",
    entry=dict(ENTRY.schema),
    children={"type": "array"},
    label={"type": "string"},
    labelTimestamp={"type": "string"},
)


@frozen(kw_only=True)
class Image(Record):
    """An image for the model: base64 without a data-URL prefix. An older format is accepted, too."""

    data: str = field(metadata=wire(TEXT), repr=False)
    mime_type: str = field(metadata=wire(TEXT))
    type: str = field(default="image", metadata=wire(choice("image")))

    @classmethod
    def from_wire(cls, data: Any) -> Image:
        """Return the image, from either format."""
        source = OBJECT.read(data).get("source")
        if source is None:
            return super().from_wire(data)
        try:
            OBJECT.read(source)
        except Mismatch as problem:
            raise problem.under("source") from None
        return super().from_wire({**data, "data": source.get("data"), "mimeType": source.get("mediaType")})

    def to_wire(self) -> JsonObject:
        """Return the current format."""
        return {"type": self.type, "data": self.data, "mimeType": self.mime_type}

    @classmethod
    def schema(cls) -> JsonObject:
        """Return the schema of both formats."""
        text, kind = dict(TEXT.schema), {"const": "image"}
        source = {"type": "object", "required": ["mediaType", "data"], "properties": {"mediaType": text, "data": text}}
        return {
            "anyOf": [
                {
                    "type": "object",
                    "required": ["data", "mimeType"],
                    "properties": {"type": kind, "data": text, "mimeType": text},
                },
                {"type": "object", "required": ["source"], "properties": {"type": kind, "source": source}},
            ]
        }


@frozen(kw_only=True)
class Disposition(Record):
    """How a message was handled: a run ``started``, it is ``queued``, or a command or plugin ``handled`` it."""

    disposition: Literal["started", "queued", "handled"] = field(metadata=wire(choice("started", "queued", "handled")))


@frozen(kw_only=True)
class State(Record):
    """The session's state.

    Attributes:
        session_file: Its file, which is created with the first prompt; None in memory.
        message_count: Messages of the model's context.
        pending_message_count: Messages that are queued.
    """

    model: JsonObject | None = field(default=None, metadata=wire(MODEL))
    thinking_level: ThinkingLevel = field(metadata=wire(LEVEL))
    is_streaming: bool = field(metadata=wire(FLAG))
    is_compacting: bool = field(metadata=wire(FLAG))
    steering_mode: QueueMode = field(metadata=wire(MODE))
    follow_up_mode: QueueMode = field(metadata=wire(MODE))
    session_file: str | None = field(default=None, metadata=wire(TEXT))
    session_id: str = field(metadata=wire(TEXT))
    session_name: str | None = field(default=None, metadata=wire(TEXT))
    auto_compaction_enabled: bool = field(metadata=wire(FLAG))
    message_count: int = field(metadata=wire(INTEGER))
    pending_message_count: int = field(metadata=wire(INTEGER))


@frozen(kw_only=True)
class Queue(Record):
    """Queued texts: for before the next request, and for the end of the run."""

    steering: tuple[str, ...] = field(metadata=wire(list_of(TEXT)))
    follow_up: tuple[str, ...] = field(metadata=wire(list_of(TEXT)))


@frozen(kw_only=True)
class TakenMessage(Record):
    """A message that was taken out of a queue."""

    text: str = field(metadata=wire(TEXT))
    images: tuple[Image, ...] = field(default=(), metadata=wire(list_of(record(Image))))


@frozen(kw_only=True)
class Cancelled(Record):
    """Whether a plugin cancelled it."""

    cancelled: bool = field(metadata=wire(FLAG))


@frozen(kw_only=True)
class Messages(Record):
    """The messages of the model's context."""

    messages: tuple[JsonObject, ...] = field(metadata=wire(list_of(MESSAGE)))


@frozen(kw_only=True)
class Models(Record):
    """Models that can be used: their provider has a key, or needs none."""

    models: tuple[JsonObject, ...] = field(metadata=wire(list_of(MODEL)))


@frozen(kw_only=True)
class ModelCycle(Record):
    """The model selected by cycling; ``is_scoped`` when only some models are cycled through."""

    model: JsonObject = field(metadata=wire(MODEL))
    thinking_level: ThinkingLevel = field(metadata=wire(LEVEL))
    is_scoped: bool = field(metadata=wire(FLAG))


@frozen(kw_only=True)
class ThinkingChoice(Record):
    """The thinking level selected by cycling."""

    level: ThinkingLevel = field(metadata=wire(LEVEL))


@frozen(kw_only=True)
class ThinkingLevels(Record):
    """The thinking levels that the model supports."""

    levels: tuple[ThinkingLevel, ...] = field(metadata=wire(list_of(LEVEL)))


@frozen(kw_only=True)
class Compaction(Record):
    """A compaction that was made; entries before ``first_kept_entry_id`` are in the summary."""

    summary: str = field(metadata=wire(TEXT))
    first_kept_entry_id: str = field(metadata=wire(TEXT))
    tokens_before: int = field(metadata=wire(INTEGER))
    details: Any = field(default=None, metadata=wire(OBJECT))
    usage: JsonObject | None = field(default=None, metadata=wire(OBJECT))
    estimated_tokens_after: int | None = field(default=None, metadata=wire(INTEGER))


@frozen(kw_only=True)
class BashResult(Record):
    """Output of a command of the user; ``exit_code`` is None when it was stopped."""

    output: str = field(metadata=wire(TEXT))
    exit_code: int | None = field(default=None, metadata=wire(INTEGER))
    cancelled: bool = field(metadata=wire(FLAG))
    truncated: bool = field(metadata=wire(FLAG))
    full_output_path: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class Tokens(Record):
    """Tokens of all requests; ``total`` is the sum."""

    input: int = field(metadata=wire(INTEGER))
    output: int = field(metadata=wire(INTEGER))
    cache_read: int = field(metadata=wire(INTEGER))
    cache_write: int = field(metadata=wire(INTEGER))
    total: int = field(metadata=wire(INTEGER))


@frozen(kw_only=True)
class ContextUsage(Record):
    """How much of the context window is used; ``tokens`` and ``percent`` are not known right after a compaction."""

    tokens: int | None = field(default=None, metadata=wire(INTEGER))
    context_window: int = field(metadata=wire(INTEGER))
    percent: float | None = field(default=None, metadata=wire(NUMBER))

    @classmethod
    def schema(cls) -> JsonObject:
        """Return the schema; unknown figures are null."""
        schema = super().schema()
        for name in ("tokens", "percent"):
            schema["properties"][name] = {"type": [schema["properties"][name]["type"], "null"]}
        return schema


@frozen(kw_only=True)
class Stats(Record):
    """Statistics of a session; ``cost`` in US dollars, ``cost_by_model`` by ``provider/id``.

    ``cache_warming`` is the next decision on keeping the prompt in the provider's cache, in words.
    """

    session_file: str | None = field(default=None, metadata=wire(TEXT))
    session_id: str = field(metadata=wire(TEXT))
    user_messages: int = field(metadata=wire(INTEGER))
    assistant_messages: int = field(metadata=wire(INTEGER))
    tool_calls: int = field(metadata=wire(INTEGER))
    tool_results: int = field(metadata=wire(INTEGER))
    total_messages: int = field(metadata=wire(INTEGER))
    tokens: Tokens = field(metadata=wire(record(Tokens)))
    cost: float = field(metadata=wire(NUMBER))
    cost_by_model: JsonObject = field(factory=dict, metadata=wire(OBJECT))
    context_usage: ContextUsage | None = field(default=None, metadata=wire(record(ContextUsage)))
    cache_warming: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class ExportedFile(Record):
    """The file that was written; relative to pi's working directory where no path was given."""

    path: str = field(metadata=wire(TEXT))


@frozen(kw_only=True)
class Fork(Record):
    """Result of a fork: the text of the user message there, for editing."""

    text: str = field(metadata=wire(TEXT))
    cancelled: bool = field(metadata=wire(FLAG))


@frozen(kw_only=True)
class TreeMove(Record):
    """Result of moving in the tree: the text of the user message there, for editing; none for other entries."""

    cancelled: bool = field(metadata=wire(FLAG))
    text: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class ForkMessage(Record):
    """A user message that can be forked from."""

    entry_id: str = field(metadata=wire(TEXT))
    text: str = field(metadata=wire(TEXT))


@frozen(kw_only=True)
class ForkMessages(Record):
    """The user's messages on the branch, oldest first."""

    messages: tuple[ForkMessage, ...] = field(metadata=wire(list_of(record(ForkMessage))))


@frozen(kw_only=True)
class Entries(Record):
    """Entries of all branches, oldest first; ``leaf_id`` is the one that the next will follow."""

    entries: tuple[JsonObject, ...] = field(metadata=wire(list_of(ENTRY)))
    leaf_id: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class Tree(Record):
    """The roots of the session's tree.

    Each node has ``entry`` and ``children``; a labelled one ``label`` and ``labelTimestamp``, the time in ISO 8601 at
    which it got its label.
    """

    tree: tuple[JsonObject, ...] = field(metadata=wire(list_of(NODE)))
    leaf_id: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class LastText(Record):
    """Text of the last answer, trimmed; None when there is none."""

    text: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class Command(Record):
    """A slash command.

    Attributes:
        source: ``extension``, ``prompt``, ``skill``, or a plugin's own kind.
        location: ``user``, ``project`` or ``path``; None for a plugin's command.
    """

    name: str = field(metadata=wire(TEXT))
    description: str | None = field(default=None, metadata=wire(TEXT))
    source: str = field(metadata=wire(TEXT))
    location: str | None = field(default=None, metadata=wire(TEXT))
    path: str | None = field(default=None, metadata=wire(TEXT))
    source_info: JsonObject | None = field(default=None, metadata=wire(OBJECT))
    argument_hint: str | None = field(default=None, metadata=wire(TEXT))


@frozen(kw_only=True)
class CommandList(Record):
    """The slash commands."""

    commands: tuple[Command, ...] = field(metadata=wire(list_of(record(Command))))
