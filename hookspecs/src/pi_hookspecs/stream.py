"""Streaming answers: the stream's events and the builder that makes them.

The builder is the only place that knows a half-received message. A delta costs the same in a
message of ten bytes and of ten megabytes: text is kept as a list of parts, ``partial`` is built
on access, and half-received tool arguments are parsed only then.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias

from attrs import evolve

from pi_hookspecs.content import ImageContent, TextContent, ThinkingContent, ToolCall
from pi_hookspecs.deferred import define, field, frozen
from pi_hookspecs.messages import AssistantMessage, Usage, now_ms
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable

    from pi_hookspecs.messages import AssistantContent, StopReason
    from pi_hookspecs.models import Model

__all__ = [
    "AssistantMessageEvent",
    "Done",
    "Error",
    "MessageBuilder",
    "PartialSource",
    "Start",
    "TextDelta",
    "TextEnd",
    "TextStart",
    "ThinkingDelta",
    "ThinkingEnd",
    "ThinkingStart",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallStart",
]


class PartialSource(Protocol):
    """An object that can return the message so far."""

    def partial(self) -> AssistantMessage:
        """Return the message so far, with ``stop_reason`` ``pending``."""
        ...


@frozen(kw_only=True, eq=False, repr=False)
class _PartialEvent(ReprMixin):
    """Base of the events of an incomplete message."""

    source: PartialSource = field(repr=False, metadata={"wire": False})

    @property
    def partial(self) -> AssistantMessage:
        """The message so far: a frozen value, which later events do not change."""
        return self.source.partial()


@frozen(kw_only=True, eq=False, repr=False)
class Start(_PartialEvent):
    """The answer begins."""

    type: ClassVar[Literal["start"]] = "start"


@frozen(kw_only=True, eq=False, repr=False)
class TextStart(_PartialEvent):
    """A text block begins."""

    type: ClassVar[Literal["text_start"]] = "text_start"
    content_index: int


@frozen(kw_only=True, eq=False, repr=False)
class TextDelta(_PartialEvent):
    """More text of a block."""

    type: ClassVar[Literal["text_delta"]] = "text_delta"
    content_index: int
    delta: str


@frozen(kw_only=True, eq=False, repr=False)
class TextEnd(_PartialEvent):
    """A text block is complete."""

    type: ClassVar[Literal["text_end"]] = "text_end"
    content_index: int
    content: str


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingStart(_PartialEvent):
    """A thinking block begins."""

    type: ClassVar[Literal["thinking_start"]] = "thinking_start"
    content_index: int


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingDelta(_PartialEvent):
    """More of the model's reasoning."""

    type: ClassVar[Literal["thinking_delta"]] = "thinking_delta"
    content_index: int
    delta: str


@frozen(kw_only=True, eq=False, repr=False)
class ThinkingEnd(_PartialEvent):
    """A thinking block is complete."""

    type: ClassVar[Literal["thinking_end"]] = "thinking_end"
    content_index: int
    content: str


@frozen(kw_only=True, eq=False, repr=False)
class ToolCallStart(_PartialEvent):
    """A tool call begins; the tool is known, its arguments follow."""

    type: ClassVar[Literal["toolcall_start"]] = "toolcall_start"
    content_index: int
    id: str
    tool_name: str


@frozen(kw_only=True, eq=False, repr=False)
class ToolCallDelta(_PartialEvent):
    """More of a tool call's argument text."""

    type: ClassVar[Literal["toolcall_delta"]] = "toolcall_delta"
    content_index: int
    delta: str


@frozen(kw_only=True, eq=False, repr=False)
class ToolCallEnd(_PartialEvent):
    """A tool call is complete."""

    type: ClassVar[Literal["toolcall_end"]] = "toolcall_end"
    content_index: int
    tool_call: ToolCall


@frozen(kw_only=True, eq=False, repr=False)
class Done(ReprMixin):
    """The answer is complete. Every stream ends with this event or with ``Error``."""

    type: ClassVar[Literal["done"]] = "done"
    message: AssistantMessage

    @property
    def reason(self) -> StopReason:
        """``stop``, ``length``, ``toolUse`` or ``deferred``."""
        return self.message.stop_reason


@frozen(kw_only=True, eq=False, repr=False)
class Error(ReprMixin):
    """The request failed or was aborted; ``error`` keeps what was received."""

    type: ClassVar[Literal["error"]] = "error"
    error: AssistantMessage

    @property
    def reason(self) -> StopReason:
        """``error`` or ``aborted``."""
        return self.error.stop_reason


AssistantMessageEvent: TypeAlias = (
    Start
    | TextStart
    | TextDelta
    | TextEnd
    | ThinkingStart
    | ThinkingDelta
    | ThinkingEnd
    | ToolCallStart
    | ToolCallDelta
    | ToolCallEnd
    | Done
    | Error
)
"""Events that ``Provider.stream`` yields."""


@define(eq=False, repr=False)
class _Block:
    """An incomplete block. ``finished`` is set when it is complete."""

    kind: Literal["text", "thinking", "toolCall", "image"]
    parts: list[str] = field(factory=list)
    id: str = ""
    name: str = ""
    finished: AssistantContent | None = None


def _loads_or_empty(text: str) -> dict[str, Any]:
    """Parse complete JSON; return an empty dict for an incomplete object."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


class MessageBuilder:
    """Turns the steps of a provider's codec into the stream's events.

    Every method returns the event to yield. A codec opens a block, feeds it by its index, closes it,
    and ends with ``done`` or ``fail``; open blocks are then closed silently, and a tool call that was
    still open is dropped, because an incomplete call must never run.

    Args:
        model: The model that answers.
        parse_partial: Parses half-received tool arguments for ``partial``; the provider kit passes a
            tolerant one.
    """

    def __init__(self, model: Model, parse_partial: Callable[[str], dict[str, Any]] = _loads_or_empty) -> None:
        self.model = model
        self.usage = Usage()
        self.extras: dict[str, Any] = {}
        """Further fields of the message, such as ``response_id``."""
        self._parse_partial = parse_partial
        self._timestamp = now_ms()
        self._blocks: list[_Block] = []

    def start(self) -> Start:
        """Begin the answer."""
        return Start(source=self)

    def text_start(self) -> TextStart:
        """Open a text block; its index is on the event."""
        return TextStart(source=self, content_index=self._open(_Block("text")))

    def text(self, index: int, delta: str) -> TextDelta:
        """Add text to an open block."""
        self._blocks[index].parts.append(delta)
        return TextDelta(source=self, content_index=index, delta=delta)

    def text_end(self, index: int, signature: str | None = None) -> TextEnd:
        """Close a text block."""
        block = self._blocks[index]
        content = TextContent("".join(block.parts), text_signature=signature)
        block.finished = content
        return TextEnd(source=self, content_index=index, content=content.text)

    def thinking_start(self) -> ThinkingStart:
        """Open a thinking block."""
        return ThinkingStart(source=self, content_index=self._open(_Block("thinking")))

    def thinking(self, index: int, delta: str) -> ThinkingDelta:
        """Add reasoning to an open block."""
        self._blocks[index].parts.append(delta)
        return ThinkingDelta(source=self, content_index=index, delta=delta)

    def thinking_end(self, index: int, signature: str | None = None, *, redacted: bool | None = None) -> ThinkingEnd:
        """Close a thinking block."""
        block = self._blocks[index]
        content = ThinkingContent("".join(block.parts), thinking_signature=signature, redacted=redacted)
        block.finished = content
        return ThinkingEnd(source=self, content_index=index, content=content.thinking)

    def tool_call_start(self, call_id: str, name: str) -> ToolCallStart:
        """Open a tool call."""
        index = self._open(_Block("toolCall", id=call_id, name=name))
        return ToolCallStart(source=self, content_index=index, id=call_id, tool_name=name)

    def tool_call(self, index: int, delta: str) -> ToolCallDelta:
        """Add argument text to an open call."""
        self._blocks[index].parts.append(delta)
        return ToolCallDelta(source=self, content_index=index, delta=delta)

    def tool_call_end(self, index: int, *, thought_signature: str | None = None) -> ToolCallEnd:
        """Close a tool call. Arguments that are not a JSON object leave ``arguments_error`` on the call.

        Their text, or its beginning, is in ``extra["argumentsText"]``: the model is shown what it sent.
        """
        block = self._blocks[index]
        text = "".join(block.parts)
        arguments, problem = _parse_arguments(text)
        call = ToolCall(block.id, block.name, arguments, thought_signature, arguments_error=problem)
        if problem is not None:
            call = evolve(call, extra={ARGUMENTS_TEXT: text[:_SHOWN]})
        block.finished = call
        return ToolCallEnd(source=self, content_index=index, tool_call=call)

    def image(self, data: str, mime_type: str) -> None:
        """Add a complete image to the answer of an image model; there is no event for it before ``done``.

        Args:
            data: The image, in base64.
            mime_type: Its type, such as ``image/png``.
        """
        self._open(_Block("image", finished=ImageContent(data, mime_type)))

    def done(self, reason: StopReason = "stop") -> Done:
        """End the answer successfully. ``stop`` becomes ``toolUse`` when the message holds a call."""
        content = self._received()
        if reason == "stop" and any(isinstance(block, ToolCall) for block in content):
            reason = "toolUse"
        return Done(message=self._message(content, reason))

    def fail(self, error: BaseException | str) -> Error:
        """End the answer with an error; what was received is kept."""
        text = str(error) or type(error).__name__
        return Error(error=self._message(self._received(), "error", error_message=text))

    def abort(self) -> Error:
        """End the answer because the run was aborted."""
        return Error(error=self._message(self._received(), "aborted", error_message="Request was aborted"))

    def partial(self) -> AssistantMessage:
        """Return the message so far."""
        return self._message(tuple(map(self._show, self._blocks)), "pending")

    def _open(self, block: _Block) -> int:
        self._blocks.append(block)
        return len(self._blocks) - 1

    def _show(self, block: _Block) -> AssistantContent:
        """Return a block for a partial message; arguments are copied, so that callers cannot change the message."""
        content = self._peek(block)
        if isinstance(content, ToolCall) and content is block.finished:
            return evolve(content, arguments=deepcopy(content.arguments))
        return content

    def _peek(self, block: _Block) -> AssistantContent:
        if block.finished is not None:
            return block.finished
        if len(block.parts) > 1:  # joined once, not on every access
            block.parts[:] = ["".join(block.parts)]
        text = block.parts[0] if block.parts else ""
        if block.kind == "text":
            return TextContent(text)
        if block.kind == "thinking":
            return ThinkingContent(text)
        return ToolCall(block.id, block.name, self._parse_partial(text) if text else {})

    def _received(self) -> tuple[AssistantContent, ...]:
        kept = (block for block in self._blocks if block.finished is not None or block.kind != "toolCall")
        return tuple(content for content in map(self._peek, kept) if content not in _EMPTY)

    def _message(self, content: tuple[AssistantContent, ...], reason: StopReason, **more: Any) -> AssistantMessage:
        model = self.model
        return AssistantMessage(
            content=content,
            api=model.api,
            provider=model.provider,
            model=model.id,
            usage=self.usage,
            stop_reason=reason,
            timestamp=self._timestamp,
            **self.extras,
            **more,
        )


ARGUMENTS_TEXT = "argumentsText"
"""Key of the text of invalid arguments in a call's ``extra``."""

_SHOWN = 4000
"""Characters of it that are kept."""

_EMPTY = (TextContent(""), ThinkingContent(""))


def _parse_arguments(text: str) -> tuple[dict[str, Any], str | None]:
    """Return the arguments and, where they are not a JSON object, the error; empty text and null are ``{}``."""
    if not text.strip():
        return {}, None
    try:
        value = json.loads(text)
    except ValueError as error:
        return {}, f"arguments are not valid JSON: {error}"
    except RecursionError:
        return {}, "arguments are nested too deeply"
    if value is None:  # some servers send it for a tool without parameters
        return {}, None
    if not isinstance(value, dict):
        return {}, f"arguments must be a JSON object, not {type(value).__name__}"
    return value, None
