"""One request and its answer: transport, fallback hosts, and errors."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from pi_provider_kit import (
    HttpFailed,
    HttpRequest,
    SentTools,
    error_event,
    final_payload,
    observed,
    parse_json,
    read_answer,
    stream_events,
    wants_sdk,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_google.reading import Reading
    from pi_provider_kit import Http

__all__ = ["Call", "answered"]

_ELSEWHERE = (403, 404, 429)
"""Statuses below 500 with which the fallback host is tried."""

_TOO_LARGE = 413
"""Prefix by which a message is recognised as an overflow."""

_UNANSWERED = ("dns", "refused", "tls", "proxy", "connect", "timeout")


@frozen(kw_only=True, eq=False)
class Call:
    """A request that either transport can make.

    Attributes:
        bases: Base URLs with the version of the API; the second is the fallback.
        path: Path after the base URL.
        payload: The body.
        headers: With the key.
        secrets: Values to redact from errors.
        error_text: Template of HTTP errors, with ``{status}`` and ``{body}``.
        sdk: Credential arguments of the vendor's client; None if it does not support the API.
    """

    bases: tuple[str, ...]
    path: str
    payload: dict[str, Any] = field(repr=False)
    headers: dict[str, str] = field(factory=dict, repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    error_text: str = "{body}"
    sdk: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def urls(self) -> list[str]:
        """URLs of the request, in order of preference."""
        return [f"{base.rstrip('/')}/{self.path}" for base in self.bases]


def answered(
    http: Http, prepare: Callable[[], Awaitable[Call]], model: Model, context: Context, options: StreamOptions
) -> AsyncIterator[AssistantMessageEvent]:
    """Make the call and yield the answer, whole or with the error that ended it.

    Args:
        http: The provider's connections.
        prepare: Builds the call; it may raise ``RequestFailed``.
        model: The model.
        context: The conversation and the tools.
        options: Options of the request, see ``wants_sdk`` of the kit for the transport.
    """
    secrets: list[str] = []

    @cache
    def reader() -> Reading:
        from pi_provider_google.reading import Reading

        reading = Reading(model)
        reading.builder.tools = SentTools(context.tools, model)
        return reading

    async def received() -> AsyncGenerator[bytes]:
        call = await prepare()
        secrets.extend(call.secrets)
        call = evolve(call, payload=await final_payload(call.payload, model, options))
        async with aclosing(_events(http, call, reader, model, options)) as events:
            async for data in events:
                yield data

    return read_answer(received(), reader, options, explain=_with_overflow_prefix, secrets=lambda: secrets)


def _with_overflow_prefix(problem: Exception) -> Exception:
    """Return the failure with a recognisable message: Google's alone does not show that a request was too large."""
    if isinstance(problem, HttpFailed) and problem.status == _TOO_LARGE:
        known: dict[str, Any] = {"body": problem.body, "request_id": problem.request_id, "status": problem.status}
        return HttpFailed(f"{_TOO_LARGE} {problem}", kind=problem.kind, **known)
    return problem


async def _events(
    http: Http, call: Call, on_sent: Callable[[], object], model: Model, options: StreamOptions
) -> AsyncGenerator[bytes]:
    if call.sdk is not None and wants_sdk(model, options):
        from pi_provider_google.sdk import sdk_events

        received = observed(sdk_events(call, options, http.user_agent), options, parse_json)
        async with aclosing(received) as events:
            async for data in events:
                yield data
        return
    *others, last = call.urls
    for url in others:
        try:
            async with aclosing(_over_http(http, call, url, on_sent, options)) as events:
                async for name, data in events:
                    yield data if name != "error" else error_event(data)
        except HttpFailed as failure:
            if not _may_use_fallback(failure):
                raise
        else:
            return
    async with aclosing(_over_http(http, call, last, on_sent, options)) as events:
        async for name, data in events:
            yield data if name != "error" else error_event(data)


def _over_http(
    http: Http, call: Call, url: str, on_sent: Callable[[], object], options: StreamOptions
) -> AsyncGenerator[tuple[str, bytes]]:
    from pi_provider_google.whole import whole_events

    request = HttpRequest(
        url=url,
        body=call.payload,
        headers=call.headers,
        error_text=call.error_text,
        on_sent=on_sent,
        from_whole=whole_events,
    )
    return stream_events(http, request, options)


def _may_use_fallback(failure: HttpFailed) -> bool:
    """Whether no part of an answer was received and another host may answer."""
    if failure.kind == "status":
        return failure.status in _ELSEWHERE or (failure.status or 0) >= 500  # noqa: PLR2004 - RFC 9110, 15.6
    return failure.kind in _UNANSWERED
