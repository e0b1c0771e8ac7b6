"""The blocks that messages are made of.

Fields are ``mime_type`` in Python and ``mimeType`` on the wire. Every block keeps fields it does not know in
``extra``, and a block of an unknown type becomes an ``UnknownContent``, so that a file written by a
newer pi survives a round trip.
"""

from __future__ import annotations

from typing import Any, Literal

from attrs import Factory

from pi_hookspecs.deferred import frozen
from pi_hookspecs.values import Value, nothing_more

__all__ = ["Content", "ImageContent", "TextContent", "ThinkingContent", "ToolCall", "UnknownContent"]


@frozen(eq=False, repr=False)
class TextContent(Value):
    """Text. ``text_signature`` is the provider's own, for replay to the same model."""

    text: str
    text_signature: str | None = None
    type: Literal["text"] = "text"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(eq=False, repr=False)
class ThinkingContent(Value):
    """Reasoning of the model. ``redacted`` means that only the opaque ``thinking_signature`` is there."""

    thinking: str
    thinking_signature: str | None = None
    redacted: bool | None = None
    type: Literal["thinking"] = "thinking"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(eq=False, repr=False)
class ImageContent(Value):
    """An image: base64 without a data-URL prefix, and its MIME type."""

    data: str
    mime_type: str
    type: Literal["image"] = "image"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(eq=False, repr=False)
class ToolCall(Value):
    """A tool call requested by the model.

    Attributes:
        id: The provider's id of the call; the result repeats it.
        name: The tool, exactly as declared.
        arguments: A JSON object.
        thought_signature: The provider's own, for replay.
        namespace: OpenAI Responses namespace of a dynamically loaded tool.
        arguments_error: Set where the argument text was not a JSON object; ``arguments`` is then empty
            and validation fails with this text.
    """

    id: str
    name: str
    arguments: dict[str, Any] = Factory(dict)
    thought_signature: str | None = None
    namespace: str | None = None
    arguments_error: str | None = None
    type: Literal["toolCall"] = "toolCall"
    extra: dict[str, Any] = Factory(nothing_more)


@frozen(eq=False, repr=False)
class UnknownContent(Value):
    """A block of a type that this version does not know; ``extra`` contains everything but the type."""

    type: str
    extra: dict[str, Any] = Factory(nothing_more)


Content = TextContent | ThinkingContent | ImageContent | ToolCall | UnknownContent
"""Any block."""
