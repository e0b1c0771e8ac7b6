"""Converts the API's content blocks, by kind: deltas and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_provider_bedrock.frames import broken
from pi_provider_kit import WholeText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerBuilder

__all__ = ["Block", "Call", "Text", "Thinking"]

_KINDS = frozenset(("text", "toolUse", "reasoningContent"))


class Block:
    """Base class of the kinds."""

    key = ""
    """Accepted types of deltas."""

    def __init__(self, builder: AnswerBuilder) -> None:
        self._builder = builder
        self._at = -1
        self._whole = WholeText()

    def add(self, delta: dict[str, Any]) -> Sequence[AssistantMessageEvent]:
        """Return our events for a delta; one of an unknown kind is ignored.

        Raises:
            HttpFailed: It belongs in a block of another kind.
        """
        value = delta.get(self.key)
        if value is not None:
            return self._append(value)
        if other := next((key for key in delta if key in _KINDS and key != self.key), None):
            raise broken(f"a delta of {other} is added to a block of {self.key}")
        return ()

    def end(self) -> Sequence[AssistantMessageEvent]:
        """Return our events for the block's end."""
        raise NotImplementedError

    def _append(self, value: Any) -> Sequence[AssistantMessageEvent]:
        raise NotImplementedError


class Text(Block):
    """A block of text."""

    key = "text"

    def open(self) -> AssistantMessageEvent:
        """Return our event for the block's beginning."""
        event = self._builder.text_start()
        self._at = event.content_index
        return event

    def end(self) -> Sequence[AssistantMessageEvent]:
        """See ``Block``."""
        return (self._builder.text_end(self._at),)

    def _append(self, value: Any) -> Sequence[AssistantMessageEvent]:
        text = self._whole.add(value) if isinstance(value, str) and value else ""
        return (self._builder.text(self._at, text),) if text else ()


class Thinking(Block):
    """A block of thinking: text, a signature, or redacted data."""

    key = "reasoningContent"

    def open(self) -> AssistantMessageEvent:
        """Return our event for the block's beginning."""
        event = self._builder.thinking_start()
        self._at = event.content_index
        self._signature: list[str] = []
        self._redacted: list[str] = []
        return event

    def end(self) -> Sequence[AssistantMessageEvent]:
        """See ``Block``."""
        if self._redacted:
            return (self._builder.thinking_end(self._at, _joined(self._redacted), redacted=True),)
        return (self._builder.thinking_end(self._at, "".join(self._signature) or None),)

    def _append(self, value: Any) -> Sequence[AssistantMessageEvent]:
        if not isinstance(value, dict):
            return ()
        for key, parts in (("signature", self._signature), ("redactedContent", self._redacted)):
            if isinstance(part := value.get(key), str):
                parts.append(part)
        delta = value.get("text")
        text = self._whole.add(delta) if isinstance(delta, str) and delta else ""
        return (self._builder.thinking(self._at, text),) if text else ()


class Call(Block):
    """A call of one of our tools."""

    key = "toolUse"

    def begin(self, call_id: str, name: str) -> AssistantMessageEvent:
        """Return our event for the call's beginning."""
        event = self._builder.tool_call_start(call_id, name)
        self._at = event.content_index
        return event

    def end(self) -> Sequence[AssistantMessageEvent]:
        """See ``Block``."""
        return (self._builder.tool_call_end(self._at),)

    def _append(self, value: Any) -> Sequence[AssistantMessageEvent]:
        delta = value.get("input") if isinstance(value, dict) else None
        text = self._whole.add(delta) if isinstance(delta, str) and delta else ""
        return (self._builder.tool_call(self._at, text),) if text else ()


def _joined(parts: list[str]) -> str:
    """Return one base64 text for several, each of which is padded on its own."""
    if len(parts) == 1:
        return parts[0]
    from base64 import b64decode, b64encode

    try:
        return b64encode(b"".join(map(b64decode, parts))).decode()
    except ValueError as error:
        raise broken("redacted thinking is not base64") from error
