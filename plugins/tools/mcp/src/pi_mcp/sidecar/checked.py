"""Checks a server's messages before the SDK parses them, because it rejects a message for any invalid part.

Of a list of tools, the invalid ones are left out; of a result, each invalid part is replaced by a text about it. What
is valid JSON but not what the negotiated revision or the SDK allows is kept where neither looks (``META``): results of
any JSON value, and schemas of results, against which the SDK would check them and drop those that differ.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any, Self

from mcp_types import (
    INTERNAL_ERROR,
    AudioContent,
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    JSONRPCRequest,
    JSONRPCResponse,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    jsonrpc_message_adapter,
)

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

__all__ = [
    "MESSAGE_LIMIT",
    "OUTPUT_SCHEMA",
    "STRUCTURED",
    "Trouble",
    "checked",
    "parsed_message",
    "sound_answer",
    "sound_content",
    "sound_result",
    "sound_tools",
    "uncovered",
]

MESSAGE_LIMIT = 16 << 20
"""Maximum bytes of one message from a server."""
OUTPUT_SCHEMA, STRUCTURED = "pi/outputSchema", "pi/structuredContent"
"""Keys in ``_meta`` of a tool and of a result for what the SDK must not check."""
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
                sound.append(_sound_tool(each, {**schema, "type": "object"}))
                continue
        _log.warning("a tool is left out, its schema is not valid: %.200r", each)
    return sound


def _sound_tool(tool: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a tool whose optional fields are valid, with its output schema in ``_meta``."""
    output = tool.get("outputSchema")
    kept = {key: value for key, value in tool.items() if key != "outputSchema"} | {"inputSchema": schema}
    if _problem(kept, Tool) is not None:
        _log.warning("a tool is used without the fields that are not valid: %.200r", tool)
        kept = {"name": tool["name"], "inputSchema": schema}
        if isinstance(tool.get("description"), str):
            kept["description"] = tool["description"]
    if _is_sound(output):
        kept["_meta"] = {**(kept.get("_meta") or {}), OUTPUT_SCHEMA: output}
    return kept


def uncovered(value: dict[str, Any], key: str, name: str) -> dict[str, Any]:
    """Return a tool or result of the SDK with what was kept under ``key`` in its ``_meta`` as its field ``name``."""
    meta = value.get("_meta") or {}
    if key not in meta:
        return value
    rest = {each: kept for each, kept in meta.items() if each != key}
    return {**value, "_meta": rest, name: meta[key]}


def parsed_message(text: str) -> Any:
    """Return the SDK's message for a JSON text.

    Raises:
        ValueError: It is no message.
    """
    try:
        return jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        answer = sound_answer(text)
        if answer is None:
            raise
        return jsonrpc_message_adapter.validate_python(answer, by_name=False)


def sound_answer(text: str | bytes) -> dict[str, Any] | None:
    """Return, for an answer whose form the SDK would not take, one that says the same; None for any other text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    number = found.get("id") if isinstance(found, dict) else None
    if isinstance(number, bool) or not isinstance(number, int | str) or "method" in found:
        return None
    if "result" in found and not isinstance(found["result"], dict):
        answer: dict[str, Any] = {"result": {"content": [_as_text(found["result"])]}}
    elif "error" in found and "result" not in found and _sound_error(found["error"]) != found["error"]:
        answer = {"error": _sound_error(found["error"])}
    else:
        return None
    return {"jsonrpc": "2.0", "id": number, **answer}


def _sound_error(error: Any) -> dict[str, Any]:
    about = error if isinstance(error, dict) else {}
    code, message = about.get("code"), about.get("message")
    is_code = isinstance(code, int) and not isinstance(code, bool)
    text = message if isinstance(message, str) else f"an error without a message: {json.dumps(error)[:2000]}"
    more = {"data": about["data"]} if "data" in about else {}
    return {"code": code if is_code else INTERNAL_ERROR, "message": text, **more}


def _as_text(value: Any) -> dict[str, str]:
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def sound_result(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call with the fields that the SDK requires, and without losing what the server sent."""
    known = {"content", "structuredContent", "isError", "_meta", "resultType"}
    if result.get("resultType", "complete") != "complete":
        return result  # a question to the client, whose form is another one
    sound = {key: value for key, value in result.items() if key in known}
    meta = sound.pop("_meta", None)
    sound["_meta"] = dict(meta) if isinstance(meta, dict) else {}
    sound["isError"] = bool(result.get("isError"))
    content = result.get("content")
    rest = {key: value for key, value in result.items() if key not in known}
    if content is not None:
        sound["content"] = sound_content(content)
    else:
        sound["content"] = [_as_text(rest)] if rest and result.get("structuredContent") is None else []
    structured = sound.pop("structuredContent", None)
    if structured is not None:
        sound["_meta"][STRUCTURED] = structured
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


class _Wrapped:
    """An SDK stream, and the ids of the calls that were sent and not answered."""

    def __init__(self, stream: Any, calls: set[Any]) -> None:
        self._stream = stream
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exception: object) -> Any:
        return await self._stream.__aexit__(*exception)


class _Received(_Wrapped):
    """Checked messages of the server."""

    async def receive(self) -> SessionMessage | Exception:
        return _looked_at(await self._stream.receive(), self._calls)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _looked_at(await self._stream.__anext__(), self._calls)


class _Sent(_Wrapped):
    """Messages to the server."""

    async def send(self, item: SessionMessage) -> None:
        if isinstance(item.message, JSONRPCRequest) and item.message.method == "tools/call":
            self._calls.add(item.message.id)
        await self._stream.send(item)


def checked(received: Any, sent: Any) -> tuple[Any, Any]:
    """Return the streams from and to a server, without parts for which the SDK would reject a whole message."""
    calls: set[Any] = set()
    return _Received(received, calls), _Sent(sent, calls)


def _looked_at(item: SessionMessage | Exception, calls: set[Any]) -> SessionMessage | Exception:
    if isinstance(item, Exception) or not isinstance(item.message, JSONRPCResponse):
        return item
    result = item.message.result
    if item.message.id in calls:
        calls.discard(item.message.id)
        item.message.result = sound_result(result)
        return item
    if isinstance(result.get("tools"), list):
        result["tools"] = sound_tools(result["tools"])
    if isinstance(result.get("contents"), list):
        result["contents"] = _sound_contents(result["contents"])
    for each in result["messages"] if isinstance(result.get("messages"), list) else ():
        if isinstance(each, dict) and "content" in each:
            each["content"] = sound_content(each["content"])[0]
    return item
