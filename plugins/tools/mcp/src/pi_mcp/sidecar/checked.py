"""Checks a server's messages before the SDK parses them, because it rejects a message for any invalid part.

Of a list of tools, the invalid ones are left out; of a result, each invalid part is replaced by a text about it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from mcp_types import (
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    JSONRPCResponse,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

__all__ = ["MESSAGE_LIMIT", "Trouble", "checked", "sound_content", "sound_tools"]

MESSAGE_LIMIT = 16 << 20
"""Maximum bytes of one message from a server."""
_DEPTH = 64
_PARTS: dict[str, Any] = {
    "text": TextContent,
    "image": ImageContent,
    "audio": AudioContent,
    "resource_link": ResourceLink,
    "resource": EmbeddedResource,
}
_log = logging.getLogger("server")


class Trouble:
    """The first reason why a connection ended, and an event for waiting tasks.

    Attributes:
        reason: A sentence without its full stop.
        is_untouched: Whether the server has not processed the last request, so that it can be sent again.
        ended: Set once there is a reason.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.is_untouched = False
        self.ended = asyncio.Event()

    def happened(self, reason: str, *, is_untouched: bool = False) -> None:
        """Record the reason; later ones are consequences."""
        if not self.reason:
            self.reason, self.is_untouched = reason, is_untouched
        self.ended.set()


def sound_tools(tools: list[Any]) -> list[dict[str, Any]]:
    """Return the tools that the SDK accepts; the others are logged.

    A schema without ``type`` gets ``object``, because servers omit it for tools without arguments.
    """
    sound = []
    for each in tools:
        schema = each.get("inputSchema") if isinstance(each, dict) else None
        if isinstance(schema, dict) and isinstance(each.get("name"), str) and _is_shallow(schema, _DEPTH):
            kind = schema.get("type", "object")
            if kind == "object":
                output = each.get("outputSchema")
                kept = {key: value for key, value in each.items() if key != "outputSchema" or _is_sound(output)}
                sound.append({**kept, "inputSchema": {**schema, "type": "object"}})
                continue
        _log.warning("a tool is left out, its schema is not valid: %.200r", each)
    return sound


def sound_content(parts: Any) -> list[Any]:
    """Return the parts of a result, each invalid one replaced by a text that says what is wrong with it."""
    found = parts if isinstance(parts, list) else [parts]
    return [_sound_part(each, f"Part {number} of {len(found)}") for number, each in enumerate(found, start=1)]


def _sound_part(part: Any, name: str) -> Any:
    if isinstance(part, str):  # not in the protocol, but unmistakable
        return {"type": "text", "text": part}
    kind = part.get("type") if isinstance(part, dict) else None
    model = _PARTS.get(kind) if isinstance(kind, str) else None
    if model is None:
        other = f"its type is {kind!r:.60}" if isinstance(part, dict) else "it is not an object"
        return _left_out(f"{name} of this result", other)
    problem = _problem(part, model)
    return part if problem is None else _left_out(f"{name} of this result, of type {kind!r},", problem)


def _sound_contents(parts: list[Any]) -> list[Any]:
    """Return the parts of a resource, each invalid one replaced by a text."""
    sound = []
    for number, each in enumerate(parts, start=1):
        model = BlobResourceContents if isinstance(each, dict) and "blob" in each else TextResourceContents
        problem = _problem(each, model)
        name = f"Part {number} of {len(parts)} of this resource"
        sound.append(each if problem is None else {"uri": "resource:invalid", **_left_out(name, problem)})
    return sound


def _problem(part: Any, model: Any) -> str | None:
    try:
        model.model_validate(part, by_name=False)
    except ValueError as error:
        details: Any = error  # pydantic's, which this distribution does not depend on
        first = details.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the part'}: {first['msg'].lower()}"
    return None


def _left_out(name: str, problem: str) -> dict[str, str]:
    return {"type": "text", "text": f"[{name} is left out, because it is not valid: {problem}]"}


def _is_sound(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "object" and _is_shallow(schema, _DEPTH)


def _is_shallow(value: Any, room: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    return room > 0 and all(
        _is_shallow(each, room - 1) for each in (value.values() if isinstance(value, dict) else value)
    )


class _Checked:
    """An SDK stream of checked messages."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> SessionMessage | Exception:
        return _looked_at(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _looked_at(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._stream.__aexit__(*exception)


def checked(stream: Any) -> Any:
    """Return a stream of messages without parts for which the SDK would reject a whole message."""
    return _Checked(stream)


def _looked_at(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = item.message.result
    if isinstance(result.get("tools"), list):
        result["tools"] = sound_tools(result["tools"])
    if "content" in result and "role" not in result:
        result["content"] = sound_content(result["content"])
    elif "structuredContent" in result:
        result["content"] = []
    if isinstance(result.get("contents"), list):
        result["contents"] = _sound_contents(result["contents"])
    for each in result["messages"] if isinstance(result.get("messages"), list) else ():
        if isinstance(each, dict) and "content" in each:
            each["content"] = sound_content(each["content"])[0]
    return item
