"""A server that speaks Anthropic's Messages API: it checks requests as the API does and streams what a test wrote down.

```python
async with FakeAnthropic() as server:
    server.answers(message(thinking("Hm.", signature="sig"), text("Hello"), tool_use("toolu_1", "read", path="a.txt")))
    ...  # a client whose base URL is server.url
    assert server.request.json["max_tokens"] == 8192
```

Answers are values: ``message(...).cut(after=b"Hel")`` closes the connection there, ``.in_pieces(1)`` sends one byte at
a time. ``error`` makes the API's errors; pages, redirects and silence are there too. Proven by the vendor's own client:
the tests of ``pluggypi-provider-anthropic`` drive it with ``AsyncAnthropic``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.anthropic_rules import anthropic_violation
from pi_testing.fake_servers.anthropic_threads import Rejection, ThreadStore
from pi_testing.fake_servers.server import (
    Answer,
    FakeServer,
    Request,
    closed_url,
    html_page,
    json_answer,
    redirect,
    silence,
    sse,
    sse_event,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Sequence

__all__ = [
    "Answer",
    "FakeAnthropic",
    "Request",
    "closed_url",
    "error",
    "error_event",
    "event",
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

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

REQUEST_ID = "req_011fake"


class FakeAnthropic(FakeServer):
    """The Messages API; its base URL is ``url``.

    Attributes:
        threads: The conversations that it keeps for clients that continue them.
        conversations: The bodies of accepted requests, each with the whole conversation, however much was sent.
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None, check: bool = True) -> None:
        super().__init__(tls=tls, check=check)
        self.threads = ThreadStore()
        self.conversations: list[dict[str, Any]] = []

    def refusal(self, request: Request) -> Answer | None:
        """Refuse what the API refuses: other paths, requests without key or version, bodies that break its rules."""
        if (request.method, request.path) != ("POST", "/v1/messages"):
            return error(404, f"Not found: {request.path}")
        if not self.check:
            return None
        if "x-api-key" not in request.headers and "authorization" not in request.headers:
            return error(401, "x-api-key header is required")
        try:
            self._accept(request)
        except Rejection as rejection:
            return error(rejection.status, str(rejection), code=rejection.code)
        return None

    def _accept(self, request: Request) -> None:
        if "anthropic-version" not in request.headers:
            raise Rejection(400, "anthropic-version: header is required")
        whole = self.threads.whole(request)
        violation = anthropic_violation(whole)
        if violation:
            raise Rejection(400, violation)
        self.conversations.append(whole)

    async def answer_to(self, request: Request) -> Answer:
        """Return the answer, and keep it where the request has a thread."""
        answer = await super().answer_to(request)
        if self.check and answer.status // 100 == 2:  # noqa: PLR2004 - RFC 9110, 15.3
            self.threads.keep(request, self.conversations[-1], answer)
        return answer

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the API's own form."""
        return error(status, message)


# Content blocks: each is the events between, and with, its start and its stop.


def text(*deltas: str) -> Block:
    """Return a text block, in so many deltas."""
    return Block({"type": "text", "text": ""}, [{"type": "text_delta", "text": delta} for delta in deltas])


def thinking(*deltas: str, signature: str = "sig_fake") -> Block:
    """Return a thinking block; the signature comes last, as the API sends it, and not at all when empty."""
    added: list[dict[str, Any]] = [{"type": "thinking_delta", "thinking": delta} for delta in deltas]
    if signature:
        added.append({"type": "signature_delta", "signature": signature})
    return Block({"type": "thinking", "thinking": "", "signature": ""}, added)


def redacted_thinking(data: str = "cmVkYWN0ZWQ=") -> Block:
    """Return thinking that only the API can read."""
    return Block({"type": "redacted_thinking", "data": data}, [])


def tool_use(call_id: str, name: str, /, *, deltas: Sequence[str] | None = None, **arguments: Any) -> Block:
    """Return a call; its arguments come as JSON in two deltas, or exactly as ``deltas`` says."""
    if deltas is None:
        whole = json.dumps(arguments, ensure_ascii=False)
        deltas = (whole[: len(whole) // 2], whole[len(whole) // 2 :]) if arguments else ("",)
    added = [{"type": "input_json_delta", "partial_json": delta} for delta in deltas]
    return Block({"type": "tool_use", "id": call_id, "name": name, "input": {}}, added)


class Block:
    """A content block: its start, and its deltas."""

    def __init__(self, start: dict[str, Any], deltas: list[dict[str, Any]]) -> None:
        self.start = start
        self.deltas = deltas

    def events(self, index: int) -> list[dict[str, Any]]:
        """Return its events as the block number ``index``."""
        return [
            {"type": "content_block_start", "index": index, "content_block": self.start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in self.deltas),
            {"type": "content_block_stop", "index": index},
        ]


# Whole answers


def message_events(
    *blocks: Block,
    stop: str | None = None,
    usage: dict[str, Any] | None = None,
    output_tokens: int = 7,
    model: str = "claude-fake",
    message_id: str = "msg_fake",
    stop_details: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the events of an answer.

    Args:
        blocks: Its content.
        stop: Stop reason; by default ``tool_use`` where there is a call, else ``end_turn``.
        usage: Usage of the first event, in addition to 11 ``input_tokens`` and 1 ``output_tokens``.
        output_tokens: Usage of the last event.
        model: Model that the answer names.
        message_id: Id of the answer.
        stop_details: Sent with the stop reason.
    """
    if stop is None:
        stop = "tool_use" if any(block.start["type"] == "tool_use" for block in blocks) else "end_turn"
    first = {"input_tokens": 11, "output_tokens": 1, **(usage or {})}
    opening: dict[str, Any] = {"id": message_id, "type": "message", "role": "assistant", "model": model, "content": []}
    opening |= {"stop_reason": None, "stop_sequence": None, "usage": first}
    delta: dict[str, Any] = {"stop_reason": stop, "stop_sequence": None}
    if stop_details is not None:
        delta["stop_details"] = stop_details
    return [
        {"type": "message_start", "message": opening},
        {"type": "ping"},
        *(each for index, block in enumerate(blocks) for each in block.events(index)),
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": output_tokens}},
        {"type": "message_stop"},
    ]


def message(*blocks: Block, **fields: Any) -> Answer:
    """Return the answer with these blocks; the fields are those of ``message_events``."""
    return stream(message_events(*blocks, **fields))


def stream(events: Iterable[dict[str, Any] | bytes]) -> Answer:
    """Return an answer of exactly these events; bytes are sent as they are, for what no server should send."""
    return sse((each if isinstance(each, bytes) else event(each) for each in events), request_id=REQUEST_ID)


def event(data: dict[str, Any]) -> bytes:
    """Return one event in wire form, named for its type."""
    return sse_event(data, data["type"])


def error_event(kind: str, message: str) -> dict[str, Any]:
    """Return the event that ends an answer with an error, such as ``overloaded_error``."""
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": REQUEST_ID}


def error(status: int, message: str, *, kind: str | None = None, code: str | None = None, **headers: str) -> Answer:
    """Return an answer that is an error; ``retry_after="7"`` and the like become headers.

    Args:
        status: HTTP status.
        message: Its text.
        kind: Its type; by default that of the status.
        code: ``error_code`` in its details.
        headers: More headers, ``_`` for ``-``.
    """
    body = error_event(kind or _ERROR_TYPES.get(status, "api_error"), message)
    if code is not None:
        body["error"]["details"] = {"error_code": code}
    return json_answer(status, body, **{"request_id": REQUEST_ID, **headers})
