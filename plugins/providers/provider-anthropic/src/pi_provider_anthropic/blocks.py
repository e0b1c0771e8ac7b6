"""Converts the API's content blocks, by kind: start, deltas and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from pi_provider_anthropic.wire_events import broken
from pi_provider_kit import WholeText, clean_json, compact_json, is_complete

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerBuilder

__all__ = ["Block", "ToolUse", "block_of"]


class Block:
    """A block of an unknown kind, which is ignored; base class of the known kinds.

    Attributes:
        open: Whether its end has not been received yet.
    """

    kind: ClassVar[str] = ""
    deltas: ClassVar[dict[str, str]] = {}
    """Accepted types of deltas, with the key of their value."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self.open = True
        self._builder = builder
        self._at = -1
        self._pieces = WholeText()

    def begin(self, content: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        """Return our events for the block's start, which may contain a part of its content."""
        return ()

    def add(self, delta: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        """Return our events for a delta; one of an unknown kind is ignored.

        Raises:
            RequestFailed: It belongs in a block of another kind.
        """
        kind = delta.get("type")
        key = self.deltas.get(kind) if isinstance(kind, str) else None
        if key is not None:
            value = delta.get(key)
            return self._append(key, value) if isinstance(value, str) and value else ()
        if self.kind and isinstance(kind, str) and kind in _ALL_DELTAS:
            raise broken(f"a {kind} is added to a {self.kind} block")
        return ()

    def is_begun_by(self, content: dict[str, Any]) -> bool:
        """Whether a start is that of this block, which some gateways send twice."""
        is_empty = self._at < 0 or not self._builder.received(self._at)
        return bool(self.kind) and content.get("type") == self.kind and is_empty

    def end(self) -> Sequence[AssistantMessageEvent]:
        """Return our events for the block's end."""
        self.open = False
        return self._finish()

    def _append(self, key: str, value: str) -> Sequence[AssistantMessageEvent]:
        return ()

    def _finish(self) -> Sequence[AssistantMessageEvent]:
        return ()


class _Text(Block):
    kind = "text"
    deltas: ClassVar[dict[str, str]] = {"text_delta": "text"}

    # It opens with its first text: an empty one has no place in the message, and so must have no index.

    def begin(self, content: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        first = content.get("text")
        return self._append("text", first) if isinstance(first, str) and first else ()

    def _append(self, key: str, value: str) -> Sequence[AssistantMessageEvent]:
        text = self._pieces.add(value)
        if not text:
            return ()
        if self._at >= 0:
            return (self._builder.text(self._at, text),)
        event = self._builder.text_start()
        self._at = event.content_index
        return (event, self._builder.text(self._at, text))

    def _finish(self) -> Sequence[AssistantMessageEvent]:
        return (self._builder.text_end(self._at),) if self._at >= 0 else ()


class _Thinking(Block):
    kind = "thinking"
    deltas: ClassVar[dict[str, str]] = {"thinking_delta": "thinking", "signature_delta": "signature"}

    def __init__(self, builder: AnswerBuilder) -> None:
        super().__init__(builder)
        self._signature: list[str] = []

    # It opens with its first text or its signature, as text does.

    def begin(self, content: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        received = ((key, content.get(key)) for key in ("signature", "thinking"))
        return [
            more for key, value in received if isinstance(value, str) and value for more in self._append(key, value)
        ]

    def _append(self, key: str, value: str) -> Sequence[AssistantMessageEvent]:
        if key == "signature":
            self._signature.append(value)
            return self._opened()
        text = self._pieces.add(value)
        return (*self._opened(), self._builder.thinking(self._at, text)) if text else ()

    def _opened(self) -> Sequence[AssistantMessageEvent]:
        if self._at >= 0:
            return ()
        event = self._builder.thinking_start()
        self._at = event.content_index
        return (event,)

    def _finish(self) -> Sequence[AssistantMessageEvent]:
        return (self._builder.thinking_end(self._at, "".join(self._signature) or None),) if self._at >= 0 else ()


class _RedactedThinking(Block):
    kind = "redacted_thinking"

    def begin(self, content: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        event = self._builder.thinking_start()
        self._at = event.content_index
        data = content.get("data")
        self._data = data if isinstance(data, str) else None
        return (event,)

    def _finish(self) -> Sequence[AssistantMessageEvent]:
        return (self._builder.thinking_end(self._at, self._data, redacted=True),)


class ToolUse(Block):
    """A call of one of our tools."""

    kind = "tool_use"
    deltas: ClassVar[dict[str, str]] = {"input_json_delta": "partial_json"}

    @property
    def is_complete(self) -> bool:
        """Whether the arguments are a whole object, or there are none."""
        return is_complete(self._builder.received(self._at))

    def is_begun_by(self, content: dict[str, Any]) -> bool:
        """See ``Block``."""
        return content.get("type") == self.kind and bool(content.get("id")) and content.get("id") == self._id

    def begin(self, content: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        """Return our event for the call; a missing id is generated.

        Raises:
            RequestFailed: The call has no name.
        """
        name, call_id = content.get("name"), content.get("id")
        self._id = call_id
        if not isinstance(name, str) or not name:
            raise broken("a tool call has no name")
        if not isinstance(call_id, str) or not call_id:
            call_id = f"toolu_pi_{uuid4().hex}"
        event = self._builder.tool_call_start(call_id, name)
        self._at = event.content_index
        self._input = content.get("input")
        self._has_text = False
        return (event,)

    def _append(self, key: str, value: str) -> Sequence[AssistantMessageEvent]:
        text = self._pieces.add(value)
        if not text:
            return ()
        self._has_text = True
        return (self._builder.tool_call(self._at, text),)

    def _finish(self) -> Sequence[AssistantMessageEvent]:
        if self._has_text or not self._input:
            return (self._builder.tool_call_end(self._at),)
        whole = self._builder.tool_call(
            self._at, compact_json(clean_json(self._input))
        )  # the host sent all of it in the start event
        return (whole, self._builder.tool_call_end(self._at))


_KINDS: dict[str, type[Block]] = {each.kind: each for each in (_Text, _Thinking, _RedactedThinking, ToolUse)}

_ALL_DELTAS = frozenset(kind for each in _KINDS.values() for kind in each.deltas)


def block_of(content: dict[str, Any], builder: AnswerBuilder) -> Block:
    """Return a new block of the kind of ``content``, the API's start of it."""
    kind = content.get("type")
    return (_KINDS.get(kind, Block) if isinstance(kind, str) else Block)(builder)
