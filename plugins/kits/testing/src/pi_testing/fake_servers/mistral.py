"""A server that speaks Mistral's chat API: it checks requests as the API does and streams what a test wrote down.

```python
async with FakeMistral() as server:
    server.answers(completion(thinking("Hm."), text("Hel", "lo"), call("aB3dE6gH9", "read", path="a.txt")))
    ...  # a client whose base URL is server.url
    assert server.request.json["model"] == "mistral-fake"
```

Answers are values: ``completion(...).cut(after=b"Hel")`` closes the connection there, ``.in_pieces(1)`` sends one byte
at a time. ``error`` makes the API's errors; pages, redirects and silence are there too. Proven by the vendor's own
client where it is installed: the tests of ``pluggypi-provider-mistral`` drive it with ``Mistral``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen

from pi_testing.fake_servers.mistral_rules import mistral_violation
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
    from collections.abc import Iterable, Iterator, Sequence

__all__ = [
    "DONE",
    "Answer",
    "Block",
    "FakeMistral",
    "Request",
    "call",
    "chunks",
    "closed_url",
    "completion",
    "completion_events",
    "error",
    "error_body",
    "html_page",
    "redirect",
    "silence",
    "text",
    "thinking",
]

DONE = b"data: [DONE]\n\n"
"""The end of every stream."""

REQUEST_ID = "0195fake"

_ERROR_TYPES = {401: "unauthorized", 404: "invalid_model", 422: "invalid_request_error", 429: "rate_limited"}


class FakeMistral(FakeServer):
    """The chat API; its base URL is ``url``."""

    def refusal(self, request: Request) -> Answer | None:
        """Refuse what the API refuses: other paths, requests without a key, bodies that break its rules."""
        if (request.method, request.path) != ("POST", "/v1/chat/completions"):
            return error(404, f"no Route matched with those values: {request.path}")
        if not self.check:
            return None
        if "authorization" not in request.headers:
            return json_answer(401, {"detail": "Unauthorized"})
        violation = mistral_violation(request.json)
        return error(*violation) if violation else None

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the API's own form."""
        return error(status, message)


# Blocks of an answer


@frozen(kw_only=True)
class Block:
    """Text, thinking or a call.

    Attributes:
        deltas: Its text or arguments, in pieces.
        signature: Of thinking.
        id: Of a call.
        name: Of a call's tool.
    """

    kind: Literal["text", "thinking", "call"]
    deltas: tuple[str, ...]
    signature: str = ""
    id: str = ""
    name: str = ""

    def wire(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the ``delta`` of each chunk; ``number`` counts the calls before this one."""
        if self.kind == "text":
            yield from ({"content": delta} for delta in self.deltas)
        elif self.kind == "thinking":
            for delta in self.deltas:
                yield {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": delta}]}]}
            if self.signature:
                yield {"content": [{"type": "thinking", "thinking": [], "signature": self.signature, "closed": True}]}
        else:
            for position, delta in enumerate(self.deltas):
                name = "" if position else self.name
                function = {"name": name, "arguments": delta}
                yield {"tool_calls": [{"id": self.id, "function": function, "index": number}]}


def text(*deltas: str) -> Block:
    """Return text, in so many deltas."""
    return Block(kind="text", deltas=deltas)


def thinking(*deltas: str, signature: str = "") -> Block:
    """Return thinking in so many chunks; the signature comes last, and not at all when empty."""
    return Block(kind="thinking", deltas=deltas, signature=signature)


def call(call_id: str, name: str, /, *, deltas: Sequence[str] | None = None, **arguments: Any) -> Block:
    """Return a call; its arguments come as JSON in one piece, as the API sends them, or exactly as ``deltas`` says."""
    pieces = (json.dumps(arguments, ensure_ascii=False),) if deltas is None else tuple(deltas)
    return Block(kind="call", deltas=pieces, id=call_id, name=name)


# Whole answers


def completion(*blocks: Block, **fields: Any) -> Answer:
    """Return the answer with these blocks; the fields are those of ``completion_events``."""
    return chunks(completion_events(*blocks, **fields))


def completion_events(
    *blocks: Block,
    finish: str | None = "",
    usage: dict[str, Any] | None = None,
    model: str = "mistral-fake",
    response_id: str = "cmpl-fake",
) -> list[dict[str, Any]]:
    """Return the chunks of an answer, without ``[DONE]``.

    Args:
        blocks: Its content.
        finish: Finish reason; None leaves it out, "" is ``tool_calls`` where there is a call, else ``stop``.
        usage: Usage fields of the last chunk, in addition to 11 ``prompt_tokens`` and 7 ``completion_tokens``.
        model: Model that the answer names.
        response_id: Id of the answer.
    """
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    calls = 0
    for block in blocks:
        deltas += block.wire(calls)
        calls += block.kind == "call"
    if finish == "":
        finish = "tool_calls" if calls else "stop"
    opening: dict[str, Any] = {"id": response_id, "object": "chat.completion.chunk", "created": 1, "model": model}
    events = [{**opening, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish is not None:
        counted = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18, **(usage or {})}
        last = {"index": 0, "delta": {"content": ""}, "finish_reason": finish}
        events.append({**opening, "choices": [last], "usage": counted})
    return events


def chunks(data: Iterable[dict[str, Any] | bytes], *, done: bool = True) -> Answer:
    """Return a stream of exactly these chunks; bytes are sent as they are, for what no server should send."""
    pieces = [each if isinstance(each, bytes) else sse_event(each) for each in data]
    return sse([*pieces, DONE] if done else pieces, x_request_id=REQUEST_ID)


def error_body(status: int, message: str, *, kind: str | None = None, code: str | None = None) -> dict[str, Any]:
    """Return the body of an API error, before an answer or during one."""
    kind = kind or _ERROR_TYPES.get(status) or ("service_unavailable" if status >= 500 else "invalid_request_error")  # noqa: PLR2004
    body = {"object": "error", "message": message, "type": kind, "param": None, "code": code}
    return {**body, "raw_status_code": status}


def error(status: int, message: str, *, kind: str | None = None, code: str | None = None, **headers: str) -> Answer:
    """Return an error in the API's own form.

    Args:
        status: HTTP status.
        message: For people.
        kind: Its ``type``; by default the one that goes with the status.
        code: Mistral's own number, as a string.
        headers: Further headers; ``_`` becomes ``-``.
    """
    return json_answer(status, error_body(status, message, kind=kind, code=code), x_request_id=REQUEST_ID, **headers)
