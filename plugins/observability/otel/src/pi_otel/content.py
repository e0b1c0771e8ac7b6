"""Messages, arguments and results as JSON for attributes: without secrets and images, and of limited size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_otel import names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["LIMIT", "messages_json", "output_json", "parts_json", "plain_json", "text_json"]

LIMIT = 32 * 1024
"""Bytes of one attribute. Whole messages are left out before one is cut."""

_MARGIN = 256
"""What the JSON around a text takes at most, or the note about what was left out."""

_ROLES = {"toolResult": "tool"}


def plain_json(value: Any, redact: Callable[[str], str]) -> str:
    """Return any data as JSON; where it is too large, the beginning of it as one JSON string."""
    text = _dump(_without(value, redact))
    return text if _size(text) <= LIMIT else _dump(_cut(text, LIMIT - 2))


def parts_json(blocks: Iterable[Any], redact: Callable[[str], str]) -> str:
    """Return the blocks of a tool's result as JSON; where it is too large, the beginning of it as one JSON string."""
    text = _dump([_part(each, redact) for each in blocks])
    return text if _size(text) <= LIMIT else _dump(_cut(text, LIMIT - 2))


def text_json(text: str, redact: Callable[[str], str]) -> str:
    """Return a text in the form of ``gen_ai.system_instructions``."""
    return _dump([_text(_cut(redact(text), LIMIT - _MARGIN))])


def output_json(answer: Any, redact: Callable[[str], str]) -> str:
    """Return an answer in the form of ``gen_ai.output.messages``."""
    reason = names.FINISH_REASONS.get(answer.stop_reason, answer.stop_reason)
    return _fitting([{**_message(answer, redact), "finish_reason": reason}])


def messages_json(messages: Sequence[Any], redact: Callable[[str], str]) -> str:
    """Return messages in the form of ``gen_ai.input.messages``; the oldest are left out where they are too many."""
    return _fitting(_message(each, redact) for each in reversed(messages))


def _fitting(newest_first: Iterable[dict[str, Any]]) -> str:
    """Return the JSON of as many messages as fit, oldest first."""
    kept: list[str] = []
    left = LIMIT - 2
    for message in newest_first:
        text = _dump(message)
        if _size(text) > left and not kept:
            whole = {**message, "parts": [_text(_cut(text, LIMIT - _MARGIN))]}
            text = _dump(whole)
        left -= _size(text) + 2
        if left < 0:
            break
        kept.append(text)
    return f"[{', '.join(reversed(kept))}]"


def _message(message: Any, redact: Callable[[str], str]) -> dict[str, Any]:
    role = _ROLES.get(message.role, message.role)
    content = getattr(message, "content", "")
    blocks = [_text(redact(content))] if isinstance(content, str) else [_part(each, redact) for each in content]
    if role == "tool":
        response = [part.get("content", part) for part in blocks]
        blocks = [{"type": "tool_call_response", "id": message.tool_call_id, "response": response}]
    return {"role": role if role in {"user", "assistant", "tool"} else "user", "parts": blocks}


def _part(block: Any, redact: Callable[[str], str]) -> dict[str, Any]:
    if block.type == "text":
        return _text(redact(block.text))
    if block.type == "thinking":
        return {"type": "reasoning", "content": redact(block.thinking)}
    if block.type == "image":
        return {"type": "image", "mime_type": block.mime_type, "bytes": len(block.data) * 3 // 4}
    if block.type == "toolCall":
        return {
            "type": "tool_call",
            "id": block.id,
            "name": block.name,
            "arguments": _without(block.arguments, redact),
        }
    return {"type": str(block.type)}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _without(value: Any, redact: Callable[[str], str]) -> Any:
    """Return data without secrets, in keys and values; each text is redacted before JSON escapes a part of it."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): _without(each, redact) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without(each, redact) for each in value]
    return value if isinstance(value, int | float | None) else redact(str(value))


def _cut(text: str, most: int) -> str:
    """Return as much of a text as fits into so many bytes of JSON, with a note about the rest."""
    if _size(_dump(text)) <= most:
        return text
    kept = text[:most]
    while _size(_dump(kept)) > most - _MARGIN:
        kept = kept[: len(kept) * 9 // 10]
    return f"{kept} [{len(text) - len(kept)} characters left out]"


def _size(text: str) -> int:
    return len(text.encode())


def _dump(value: Any) -> str:
    """Return JSON; halves of characters, which no exporter can encode, become question marks."""
    return json.dumps(value, ensure_ascii=False).encode(errors="replace").decode()
