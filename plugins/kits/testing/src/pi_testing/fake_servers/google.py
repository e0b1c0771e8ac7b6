"""A server that speaks Google's APIs: it checks requests as they do and streams what a test wrote down.

```python
async with FakeGoogle() as server:
    server.answers(answer(thought("Hm.", signature="c2ln"), text("Hel", "lo"), call("read", path="a.txt")))
    ...  # a client whose base URL is server.base_url
    assert server.request.json["generationConfig"]["maxOutputTokens"] == 8192
```

The Gemini API (``base_url``), Vertex AI and Cloud Code Assist (``url``, and ``wrapped`` around an answer) are served
alike. Answers are values: ``answer(...).cut(after=b"Hel")`` closes the connection there, ``.in_pieces(1)`` sends one
byte at a time. ``error`` makes the APIs' errors, ``blocked`` a filter's response; pages, redirects and silence
exist, too. Verified by the vendor's own client: the tests of ``pluggypi-provider-google`` use
``google.genai.Client``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from pi_testing.fake_servers.google_rules import google_violation
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
    from collections.abc import Iterable

__all__ = [
    "Answer",
    "FakeGoogle",
    "Request",
    "answer",
    "answer_events",
    "blocked",
    "call",
    "closed_url",
    "error",
    "error_event",
    "html_page",
    "redirect",
    "silence",
    "stream",
    "text",
    "thought",
    "wrapped",
]

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}

_PATHS = tuple(
    re.compile(rf"/{prefix}(?P<model>[^/]+):(?P<method>streamGenerateContent|generateContent)")
    for prefix in (
        r"v1beta/models/",
        r"(?:v1|v1beta1)/publishers/google/models/",
        r"(?:v1|v1beta1)/projects/[^/]+/locations/[^/]+/publishers/google/models/",
    )
)
_CODE_ASSIST = "/v1internal:streamGenerateContent"


class FakeGoogle(FakeServer):
    """The Gemini API, Vertex AI and Cloud Code Assist."""

    @property
    def base_url(self) -> str:
        """The base URL of the Gemini API; that of the others is ``url``."""
        return f"{self.url}/v1beta"

    def refusal(self, request: Request) -> Answer | None:
        """Refuse what the API refuses: other paths, requests without a key, bodies that break its rules."""
        if request.path.startswith("/v1internal:") and request.path != _CODE_ASSIST:
            return None  # logins ask for projects there: the script defines what they find
        if request.path == _CODE_ASSIST:
            return self._code_assist_refusal(request)
        found = next(filter(None, (path.fullmatch(request.path) for path in _PATHS)), None)
        if found is None or request.method != "POST":
            return error(404, f"{request.path} is not found for API version v1beta")
        if "/projects/" in request.path:
            refused = self._without_token(request)
        elif not request.headers.get("x-goog-api-key"):
            refused = error(403, "Method doesn't allow unregistered callers. Please use API Key.")
        else:
            refused = None
        if refused is None and found["method"] == "generateContent":
            violation = google_violation(request.json, found["model"]) if self.check else None
            return error(400, violation) if violation else None
        return refused or self._violation(request, request.json, found["model"])

    def _code_assist_refusal(self, request: Request) -> Answer | None:
        body = request.json
        missing = [name for name in ("project", "model", "request") if not body.get(name)]
        if missing:
            return error(400, f"{missing[0]} is required")
        return self._without_token(request) or self._violation(request, body["request"], body["model"])

    def _without_token(self, request: Request) -> Answer | None:
        if request.headers.get("authorization", "").startswith("Bearer "):
            return None
        return error(401, "Request is missing required authentication credential.")

    def _violation(self, request: Request, body: dict[str, Any], model: str) -> Answer | None:
        if request.query != "alt=sse":
            return error(400, "The answer is a stream of server-sent events: alt=sse is missing")
        violation = google_violation(body, model) if self.check else None
        return error(400, violation) if violation else None

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the APIs' own form."""
        return error(status, message)


# What an answer is made of


@frozen
class Block:
    """Parts that follow each other, one chunk each."""

    parts: tuple[dict[str, Any], ...]


def text(*deltas: str, signature: str = "") -> Block:
    """Return text, in so many parts; a signature comes with the last."""
    return Block(_signed([{"text": delta} for delta in deltas], signature))


def thought(*deltas: str, signature: str = "") -> Block:
    """Return a summary of thoughts, in so many parts; a signature comes with the last."""
    return Block(_signed([{"text": delta, "thought": True} for delta in deltas], signature))


def call(name: str, /, *, call_id: str = "", signature: str = "", **arguments: Any) -> Block:
    """Return a call, which comes whole; without an id, as older models make it, unless there is one."""
    made: dict[str, Any] = {"name": name, "args": arguments}
    if call_id:
        made["id"] = call_id
    return Block(_signed([{"functionCall": made}], signature))


def _signed(parts: list[dict[str, Any]], signature: str) -> tuple[dict[str, Any], ...]:
    if parts and signature:
        parts[-1] = {**parts[-1], "thoughtSignature": signature}
    return tuple(parts)


# Whole answers


def answer_events(
    *blocks: Block,
    finish: str | None = "STOP",
    finish_message: str = "",
    usage: dict[str, Any] | None = None,
    model: str = "gemini-fake",
    response_id: str = "resp_fake",
) -> list[dict[str, Any]]:
    """Return the chunks of an answer.

    Args:
        blocks: Its content.
        finish: Finish reason; None leaves it out.
        finish_message: In addition to the reason.
        usage: In addition to 11 ``promptTokenCount`` and 7 ``candidatesTokenCount``, of the last chunk.
        model: The model that the answer names.
        response_id: Id of the answer.
    """
    common = {"modelVersion": model, "responseId": response_id}
    asked = {"promptTokenCount": 11, "totalTokenCount": 11}
    counted = {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18, **(usage or {})}
    chunks = [
        {"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], "usageMetadata": asked, **common}
        for block in blocks
        for part in block.parts
    ]
    last: dict[str, Any] = {"content": {"parts": [{"text": ""}], "role": "model"}, "index": 0}
    if finish is not None:
        last["finishReason"] = finish
    if finish_message:
        last["finishMessage"] = finish_message
    return [*chunks, {"candidates": [last], "usageMetadata": counted, **common}]


def answer(*blocks: Block, **fields: Any) -> Answer:
    """Return the answer with these blocks; the fields are those of ``answer_events``."""
    return stream(answer_events(*blocks, **fields))


def blocked(reason: str = "SAFETY", message: str = "") -> Answer:
    """Return the answer to a prompt that a filter blocked."""
    feedback = {"blockReason": reason, **({"blockReasonMessage": message} if message else {})}
    return stream([{"promptFeedback": feedback, "usageMetadata": {"promptTokenCount": 11, "totalTokenCount": 11}}])


def stream(events: Iterable[dict[str, Any] | bytes]) -> Answer:
    """Return an answer of exactly these chunks; bytes are sent as they are, for what no server should send."""
    return sse(each if isinstance(each, bytes) else sse_event(each) for each in events)


def wrapped(whole: Answer) -> Answer:
    """Return the answer as Cloud Code Assist sends it: every chunk within ``response``."""
    pieces = []
    for piece in whole.pieces:
        data = piece.removeprefix(b"data: ").strip() if isinstance(piece, bytes) else b""
        pieces.append(sse_event({"response": json.loads(data), "traceId": "trace_fake"}))
    return evolve(whole, pieces=tuple(pieces))


def error_event(status: int, message: str) -> dict[str, Any]:
    """Return the chunk that ends an answer with an error."""
    return {"error": {"code": status, "message": message, "status": _STATUSES.get(status, "UNKNOWN")}}


def error(status: int, message: str, *, retry_delay: str = "", **headers: str) -> Answer:
    """Return an answer that is an error; ``retry_delay="7s"`` is Google's own way to say when to come back."""
    body = error_event(status, message)
    if retry_delay:
        body["error"]["details"] = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}]
    return json_answer(status, body, **headers)
