"""One request and its answer: transport and errors."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from pi_provider_kit import (
    HttpFailed,
    HttpRequest,
    data_of,
    dicts,
    error_event,
    final_payload,
    generated_calls,
    observed,
    parse_json,
    read_answer,
    stream_events,
    wants_sdk,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerReader, Http

__all__ = ["Call", "answered"]

_ENDED = ("completed", "incomplete", "failed", "cancelled")


@frozen(kw_only=True, eq=False)
class Call:
    """A request that either transport can make.

    Attributes:
        base_url: The base URL.
        path: ``/chat/completions`` or ``/responses``.
        payload: The body.
        headers: Without the key.
        key: The key or token; None if the host needs none.
        azure_version: The ``api-version`` of Azure; None for other hosts.
        error_text: Template of HTTP errors, with ``{status}`` and ``{body}``.
    """

    base_url: str
    path: str
    payload: dict[str, Any] = field(repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    key: str | None = field(default=None, repr=False)
    azure_version: str | None = None
    error_text: str = "{status}: {body}"

    @property
    def key_is_token(self) -> bool:
        """Whether the key is a token of Entra (a JWT) and not a key of Azure."""
        return self.key is not None and self.key.startswith("eyJ") and self.key.count(".") == 2  # noqa: PLR2004

    @property
    def from_whole(self) -> Callable[[Any], list[dict[str, Any]]]:
        """Function that converts an answer that is not streamed to events, see ``HttpRequest.from_whole``."""
        return _whole_completion if self.path == "/chat/completions" else _whole_response

    def http_request(self, payload: Any, on_sent: Callable[[], object] | None = None) -> HttpRequest:
        """Return the request for the kit, see ``HttpRequest.on_sent``."""
        url = f"{self.base_url.rstrip('/')}{self.path}"
        headers = dict(self.headers)
        if self.azure_version is not None:
            url = f"{url}?api-version={self.azure_version}"
        if self.key and self.azure_version is not None and not self.key_is_token:
            headers["api-key"] = self.key
        elif self.key:
            headers["authorization"] = f"Bearer {self.key}"
        return HttpRequest(
            url=url,
            body=payload,
            headers=headers,
            error_text=self.error_text,
            on_sent=on_sent,
            from_whole=self.from_whole,
        )


def answered(
    http: Http,
    prepare: Callable[[], Call],
    reader: Callable[[], AnswerReader[bytes]],
    model: Model,
    options: StreamOptions,
    *,
    explain: Callable[[Exception], Exception] | None = None,
) -> AsyncIterator[AssistantMessageEvent]:
    """Make the call and yield the answer, whole or with the error that ended it.

    Args:
        http: The provider's connections.
        prepare: Builds the call; it may raise ``RequestFailed``.
        reader: Returns the reader of the answer; called when the request was sent.
        model: The model.
        options: Options of the request, see ``wants_sdk`` of the kit for the transport.
        explain: Adds an explanation to a failure.
    """
    reader = cache(reader)
    return read_answer(_events(http, prepare, reader, model, options), reader, options, explain=explain)


async def _events(
    http: Http,
    prepare: Callable[[], Call],
    reader: Callable[[], AnswerReader[bytes]],
    model: Model,
    options: StreamOptions,
) -> AsyncGenerator[bytes]:
    call = prepare()
    payload = await final_payload(call.payload, model, options)
    if wants_sdk(model, options):
        from pi_provider_openai.sdk import sdk_events

        received = observed(sdk_events(call, payload, options, http.user_agent), options, data_of)
    else:
        received = stream_events(http, call.http_request(payload, reader), options)
    try:
        async with aclosing(received):
            async for name, data in received:
                yield data if name != "error" else error_event(data)
    except HttpFailed as failure:
        if not _has_calls(failure.body):
            if "failed_generation" in failure.body:
                failure.advice = _NO_CALL
            raise
        yield failure.body.encode()


_NO_CALL = "The model wrote no call that the provider could read: ask again, or choose another model."


def _has_calls(body: str) -> bool:
    """Whether a refusal contains calls that the host could not read, which the reader makes an answer of."""
    if "failed_generation" not in body:
        return False
    from pi_provider_openai.completions_events import failed_generation

    try:
        return bool(generated_calls(failed_generation(parse_json(body.encode()))))
    except ValueError:
        return False


def _whole_completion(answer: Any) -> list[dict[str, Any]]:
    """Return one chunk with all of a completion; none for other data. The codec treats a message like a delta."""
    choices = dicts(answer.get("choices")) if isinstance(answer, dict) else []
    if not any("message" in choice for choice in choices):
        return []
    # The document is complete, also where it has no reason.
    whole = [choice if choice.get("finish_reason") else {**choice, "finish_reason": "stop"} for choice in choices]
    return [{**answer, "choices": [{**choice, "delta": None} if _says(choice) else choice for choice in whole]}]


def _says(choice: dict[str, Any]) -> bool:
    message = choice.get("message")
    return isinstance(message, dict) and any(message.values())


def _whole_response(answer: Any) -> list[dict[str, Any]]:
    """Return the final event of a response, which has all of it; none for other data, or an unfinished one."""
    if not isinstance(answer, dict) or answer.get("status") not in _ENDED or "output" not in answer:
        return []
    return [{"type": "response.completed", "response": answer}]  # its status is how it ended
