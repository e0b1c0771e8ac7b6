"""Checks a server's messages before the SDK parses them: one invalid tool must not invalidate all others."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Self

from mcp_types import JSONRPCResponse

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

__all__ = ["MESSAGE_LIMIT", "Trouble", "checked", "sound_tools"]

MESSAGE_LIMIT = 16 << 20
"""Maximum bytes of one message from a server."""
_DEPTH = 64
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
    """Return a stream of messages without tools for which the SDK would reject a whole list."""
    return _Checked(stream)


def _looked_at(item: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = item.message.result
    if isinstance(result.get("tools"), list):
        result["tools"] = sound_tools(result["tools"])
    return item
