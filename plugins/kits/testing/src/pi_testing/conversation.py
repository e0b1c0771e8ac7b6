"""Short constructors for messages, and the final message of a stream, for tests of a provider's codec.

```python
from pi_testing import conversation as talk

messages = talk.user("Hi"), talk.answer(model, talk.call("c1", "read", {"path": "a"})), talk.result("c1", "ok")
```

Every message has the timestamp 0, so that two messages with the same content are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_hookspecs import (
    AssistantMessage,
    Done,
    Error,
    ImageContent,
    Start,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import AssistantMessageEvent, Model

__all__ = ["answer", "call", "final_message", "image", "result", "text", "thinking", "user"]

text = TextContent
thinking = ThinkingContent
call = ToolCall


def image(data: str = "aW1n", kind: str = "image/png") -> ImageContent:
    """Return an image; ``data`` is base64."""
    return ImageContent(data, kind)


def user(*content: Any) -> UserMessage:
    """Return a user message: a single text, or a list of blocks."""
    plain = len(content) == 1 and isinstance(content[0], str)
    return UserMessage(content=content[0] if plain else content, timestamp=0)


def answer(model: Model, *content: Any, **fields: Any) -> AssistantMessage:
    """Return an assistant message with these blocks; ``fields`` are further fields of the message."""
    known: dict[str, Any] = {"api": model.api, "provider": model.provider, "model": model.id}
    return AssistantMessage(content=content, timestamp=0, **{**known, **fields})


def result(call_id: str, *content: Any, name: str = "read", **fields: Any) -> ToolResultMessage:
    """Return a tool result message with texts or blocks; ``fields`` are further fields of the message."""
    blocks = tuple(TextContent(each) if isinstance(each, str) else each for each in content)
    return ToolResultMessage(tool_call_id=call_id, tool_name=name, content=blocks, timestamp=0, **fields)


def final_message(events: Sequence[AssistantMessageEvent]) -> AssistantMessage:
    """Return the final message of a stream.

    Raises:
        AssertionError: The stream has no final event, has events after it, or does not begin with a start event.
    """
    ends = [event for event in events if isinstance(event, Done | Error)]
    assert ends == [events[-1]], "a stream ends once"
    if len(events) > 1 or isinstance(ends[0], Done):
        assert isinstance(events[0], Start), "a stream begins with its start"
    return ends[0].message if isinstance(ends[0], Done) else ends[0].error
