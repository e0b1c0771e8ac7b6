"""A server that speaks Bedrock's ``ConverseStream``: it checks requests as the API does and streams what a test wrote.

```python
async with FakeBedrock(secret="s") as server:
    server.answers(
        message(thinking("Hm.", signature="sig"), text("Hello"), tool_use("tooluse_1", "read", path="a.txt"))
    )
    ...  # a client whose endpoint is server.url
    assert server.request.json["inferenceConfig"] == {"maxTokens": 8192}
```

Answers are values, frames with both checksums: ``message(...).cut(100)`` closes the connection there, ``.in_pieces(1)``
sends one byte at a time. ``error`` makes the API's errors, ``exception`` the frame that ends an answer with one. Proven
by the vendor's own client: the tests of ``pluggypi-provider-bedrock`` drive it with boto3.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.bedrock_rules import bedrock_violation
from pi_testing.fake_servers.bedrock_signature import signature_violation
from pi_testing.fake_servers.server import (
    Answer,
    FakeServer,
    Request,
    closed_url,
    html_page,
    json_answer,
    redirect,
    silence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "Answer",
    "FakeBedrock",
    "Request",
    "closed_url",
    "error",
    "event",
    "exception",
    "frame",
    "html_page",
    "message",
    "message_events",
    "redacted_thinking",
    "redirect",
    "silence",
    "stream",
    "text",
    "thinking",
    "tool_use",
]

_KINDS = {
    400: "ValidationException",
    401: "UnrecognizedClientException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}

_PATH = re.compile(r"/model/[^/]+/converse-stream")

REQUEST_ID = "7b1ff2b3-0000-4000-8000-fake00000000"


class FakeBedrock(FakeServer):
    """Bedrock's runtime; its endpoint is ``url``.

    Args:
        secret: The secret key that requests must be signed with, where they are; None takes any signature.
        options: Of ``FakeServer``.
    """

    def __init__(self, *, secret: str | None = None, **options: Any) -> None:
        super().__init__(**options)
        self._secret = secret

    def refusal(self, request: Request) -> Answer | None:
        """Refuse what the API refuses: other paths, requests without key or signature, bodies that break its rules."""
        if request.method != "POST" or not _PATH.fullmatch(request.path):
            return error(404, "", kind="UnknownOperationException")
        if not self.check:
            return None
        authorization = request.headers.get("authorization", "")
        if not authorization.startswith(("Bearer ", "AWS4-HMAC-SHA256 ")):
            return error(403, "Missing Authentication Token", kind="MissingAuthenticationTokenException")
        if self._secret is not None and not authorization.startswith("Bearer "):
            violation = signature_violation(request, self._secret)
            if violation:
                return error(403, violation, kind="InvalidSignatureException")
        violation = bedrock_violation(request.json, request.path)
        return error(400, violation) if violation else None

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the API's own form."""
        return error(status, message)


# Content blocks: each is the events between, and with, its start and its stop.


def text(*deltas: str) -> Block:
    """Return a text block, in so many deltas; it has no start event."""
    return Block(None, [{"text": delta} for delta in deltas])


def thinking(*deltas: str, signature: str = "sig_fake") -> Block:
    """Return a thinking block; the signature comes last, and not at all when empty."""
    added: list[dict[str, Any]] = [{"reasoningContent": {"text": delta}} for delta in deltas]
    if signature:
        added.append({"reasoningContent": {"signature": signature}})
    return Block(None, added)


def redacted_thinking(data: str = "cmVkYWN0ZWQ=") -> Block:
    """Return thinking that only the API can read; ``data`` is base64."""
    return Block(None, [{"reasoningContent": {"redactedContent": data}}])


def tool_use(call_id: str, name: str, /, *, deltas: Sequence[str] | None = None, **arguments: Any) -> Block:
    """Return a call; its arguments come as JSON in two deltas, or exactly as ``deltas`` says."""
    if deltas is None:
        whole = json.dumps(arguments, ensure_ascii=False)
        deltas = (whole[: len(whole) // 2], whole[len(whole) // 2 :]) if arguments else ("",)
    start = {"toolUse": {"toolUseId": call_id, "name": name}}
    return Block(start, [{"toolUse": {"input": delta}} for delta in deltas])


class Block:
    """A content block: its start, if the API sends one, and its deltas."""

    def __init__(self, start: dict[str, Any] | None, deltas: list[dict[str, Any]]) -> None:
        self.start = start
        self.deltas = deltas

    def events(self, index: int) -> list[tuple[str, dict[str, Any]]]:
        """Return its events as the block number ``index``."""
        place = {"contentBlockIndex": index}
        begun = [("contentBlockStart", {**place, "start": self.start})] if self.start is not None else []
        added = (("contentBlockDelta", {**place, "delta": delta}) for delta in self.deltas)
        return [*begun, *added, ("contentBlockStop", place)]


# Whole answers


def message_events(
    *blocks: Block, stop: str | None = None, usage: dict[str, Any] | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of an answer, each with its kind.

    Args:
        blocks: Its content.
        stop: Stop reason; by default ``tool_use`` where there is a call, else ``end_turn``.
        usage: Instead of 11 ``inputTokens`` and 7 ``outputTokens``.
    """
    if stop is None:
        stop = "tool_use" if any(block.start is not None for block in blocks) else "end_turn"
    counted = {"inputTokens": 11, "outputTokens": 7, **(usage or {})}
    names = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
    counted.setdefault("totalTokens", sum(counted.get(name, 0) for name in names))
    return [
        ("messageStart", {"role": "assistant"}),
        *(each for index, block in enumerate(blocks) for each in block.events(index)),
        ("messageStop", {"stopReason": stop}),
        ("metadata", {"usage": counted, "metrics": {"latencyMs": 1234}}),
    ]


def message(*blocks: Block, **fields: Any) -> Answer:
    """Return the answer with these blocks; the fields are those of ``message_events``."""
    return stream(message_events(*blocks, **fields))


def stream(events: Iterable[tuple[str, dict[str, Any]] | bytes]) -> Answer:
    """Return an answer of exactly these events; bytes are sent as they are, for what no server should send."""
    pieces = tuple(each if isinstance(each, bytes) else event(*each) for each in events)
    headers = {"content-type": "application/vnd.amazon.eventstream", "x-amzn-RequestId": REQUEST_ID}
    return Answer(headers=headers, pieces=pieces)


def event(kind: str, data: dict[str, Any]) -> bytes:
    """Return the frame of one event; ``p`` is what the API pads its JSON with."""
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps({**data, "p": "abcdefgh"}, ensure_ascii=False).encode("utf-8", "backslashreplace"))


def exception(kind: str, message: str, **fields: Any) -> bytes:
    """Return the frame that ends an answer with an error, such as ``throttlingException``."""
    headers = {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message, **fields}).encode())


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """Return a frame of ``application/vnd.amazon.eventstream`` whose headers are texts, with its two checksums."""
    encoded = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value.encode())) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(encoded) + len(payload), len(encoded))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    whole = prelude + encoded + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


def error(status: int, message: str, *, kind: str | None = None, **headers: str) -> Answer:
    """Return an answer that is an error; ``retry_after="7"`` and the like become headers."""
    named = {"x-amzn-ErrorType": kind or _KINDS.get(status, "UnknownException"), "x-amzn-RequestId": REQUEST_ID}
    return json_answer(status, {"message": message}, **named, **headers)
