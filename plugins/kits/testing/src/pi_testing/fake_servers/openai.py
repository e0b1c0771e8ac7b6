"""A server that speaks OpenAI's APIs: it checks requests as they do and streams what a test wrote down.

```python
async with FakeOpenAI() as server:
    server.answers(completion(text("Hel", "lo"), call("call_1", "read", path="a.txt")))
    ...  # a client whose base URL is server.base_url
    assert server.request.json["model"] == "gpt-5"
```

The same blocks make an answer of Completions (``completion``) and of Responses (``response``). Answers are values:
``completion(...).cut(after=b"Hel")`` closes the connection there, ``.in_pieces(1)`` sends one byte at a time. ``error``
makes the APIs' errors; pages, redirects and silence are there too. Azure's paths and ChatGPT's backend work as well,
and ``GET .../models`` answers without a script. Proven by the vendor's own client: the tests of
``pluggypi-provider-openai`` drive it with ``AsyncOpenAI`` and ``AsyncAzureOpenAI``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pi_testing.fake_servers.openai_blocks import call, completion_events, reasoning, response_events, text
from pi_testing.fake_servers.openai_rules import (
    completions_violation,
    images_violation,
    moderations_violation,
    responses_violation,
)
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
    "DONE",
    "Answer",
    "FakeOpenAI",
    "Request",
    "call",
    "chunks",
    "closed_url",
    "completion",
    "completion_events",
    "error",
    "events",
    "html_page",
    "images",
    "moderation",
    "reasoning",
    "redirect",
    "response",
    "response_events",
    "silence",
    "text",
]

DONE = b"data: [DONE]\n\n"
"""The end of every stream of Completions."""

REQUEST_ID = "req_fake"

_ERROR_TYPES = {
    401: "invalid_request_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}


class FakeOpenAI(FakeServer):
    """Completions, Responses, Azure, ChatGPT's backend and the list of models.

    Args:
        models: The rows of ``GET .../models``: ids, or whole rows.
        keyless: Whether requests without a key are served, as local servers do.
        options: Of ``FakeServer``.
    """

    def __init__(
        self,
        *,
        models: Iterable[str | dict[str, Any]] = ("gpt-fake",),
        keyless: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self._models = [{"object": "model", **({"id": row} if isinstance(row, str) else row)} for row in models]
        self._keyless = keyless

    @property
    def base_url(self) -> str:
        """The base URL of Completions and Responses."""
        return f"{self.url}/v1"

    @property
    def azure_url(self) -> str:
        """The base URL of an Azure resource."""
        return f"{self.url}/openai/v1"

    @property
    def codex_url(self) -> str:
        """The base URL of ChatGPT's backend."""
        return f"{self.url}/backend-api"

    def refusal(self, request: Request) -> Answer | None:
        """Refuse what the APIs refuse: other paths, requests without a key, bodies that break the rules.

        The list of models is answered here, because no script contains it.
        """
        if (request.method, request.path) == ("GET", "/v1/models"):
            return json_answer(200, {"object": "list", "data": self._models})
        rules = {
            "/v1/chat/completions": completions_violation,
            "/v1/responses": responses_violation,
            "/openai/v1/responses": responses_violation,
            "/backend-api/codex/responses": responses_violation,
            "/v1/images/generations": images_violation,
            "/v1/images": images_violation,
            "/v1/moderations": moderations_violation,
        }
        rule = rules.get(request.path)
        if rule is None or request.method != "POST":
            return error(404, f"Invalid URL ({request.method} {request.path})")
        if (refused := self._refused_access(request)) is not None:
            return refused
        violation = rule(request.json) if self.check else None
        return error(400, violation) if violation else None

    def _refused_access(self, request: Request) -> Answer | None:
        headers = request.headers
        azure = request.path.startswith("/openai/")
        if azure and "api-version=" not in request.query:
            return error(404, "Resource not found")
        keys = {"authorization", "api-key"} if azure else {"authorization"}
        if not self._keyless and not keys & headers.keys():
            return error(401, "You didn't provide an API key.", code="invalid_api_key")
        if "/codex/" in request.path and "chatgpt-account-id" not in headers:
            return error(403, "No account")
        return None

    def error(self, status: int, message: str) -> Answer:
        """Return an error in the API's own form."""
        return error(status, message)


def completion(*blocks: Any, **fields: Any) -> Answer:
    """Return an answer of Completions; the fields are those of ``completion_events``."""
    return chunks(completion_events(*blocks, **fields))


def response(*blocks: Any, **fields: Any) -> Answer:
    """Return an answer of Responses; the fields are those of ``response_events``."""
    return events(response_events(*blocks, **fields))


def images(*data: str, **fields: Any) -> Answer:
    """Return an answer of the images APIs with these images, in base64; the fields are further ones of the answer."""
    return json_answer(200, {"created": 1, "data": [{"b64_json": each} for each in data], **fields})


def moderation(**scores: float) -> Answer:
    """Return an answer of the moderations API with these scores by label."""
    flagged = any(score > 0.5 for score in scores.values())  # noqa: PLR2004 - more likely than not
    return json_answer(200, {"id": "modr-1", "results": [{"flagged": flagged, "category_scores": scores}]})


def chunks(data: Iterable[dict[str, Any] | bytes], *, done: bool = True) -> Answer:
    """Return a stream of exactly these chunks; bytes are sent as they are, for what no server should send."""
    pieces = [each if isinstance(each, bytes) else sse_event(each) for each in data]
    return sse([*pieces, DONE] if done else pieces, x_request_id=REQUEST_ID)


def events(data: Iterable[dict[str, Any] | bytes]) -> Answer:
    """Return a stream of exactly these events of Responses, named for their types; bytes are sent as they are."""
    pieces = (each if isinstance(each, bytes) else sse_event(each, each["type"]) for each in data)
    return sse(pieces, x_request_id=REQUEST_ID)


def error(status: int, message: str, *, code: str | None = None, kind: str | None = None, **headers: str) -> Answer:
    """Return an error in the APIs' own form.

    Args:
        status: HTTP status.
        message: For people.
        code: For programs.
        kind: Its ``type``; by default the one that goes with the status.
        headers: Further headers; ``_`` becomes ``-``.
    """
    kind = kind or _ERROR_TYPES.get(status) or ("server_error" if status >= 500 else "invalid_request_error")  # noqa: PLR2004
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return json_answer(status, body, x_request_id=REQUEST_ID, **headers)
