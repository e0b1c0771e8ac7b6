"""The other transport: OpenAI's own client makes the request, and its bytes feed the same codec.

It is imported only for logins that the kit does not support, or where the user selects it.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import RequestFailed
from pi_provider_kit import (
    AbortWatch,
    Progress,
    SseDecoder,
    Timeouts,
    answer_failure,
    compact_json,
    parse_json,
    secrets_of,
    tls_context,
    transport_failure,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_openai.exchange import Call

__all__ = ["sdk_events"]

_WHOLE_BYTES = 64 * 1_048_576

_NO_KEY = "none"
"""Placeholder key for a host without keys; the client requires one."""


async def sdk_events(
    call: Call, payload: Any, options: StreamOptions, user_agent: str
) -> AsyncGenerator[tuple[str, bytes]]:
    """Make the call with the vendor's client and yield the events as ``stream_events`` of the kit does.

    Raises:
        RequestFailed: The request failed, or the client is not installed.
        Aborted: ``options.signal`` was set.
    """
    sdk, httpx = _sdk()
    timeouts = Timeouts.of(options)
    watch = AbortWatch(options.signal)
    try:
        client = await watch(_client(sdk, httpx, call, options, user_agent))
        async with client:
            resource = client.chat.completions if call.path == "/chat/completions" else client.responses
            # The payload is complete: as ``extra_body`` it replaces the client's own parameters.
            spoken: dict[str, Any] = {"messages": []} if call.path == "/chat/completions" else {"input": []}
            request = resource.with_streaming_response.create(
                **spoken, model=payload.get("model", ""), stream=True, extra_body=payload
            )
            try:  # the client's own timeouts are for single reads, without its retries
                response = await watch(request.__aenter__(), None if options.max_retries else timeouts.opening)
            except TimeoutError as error:
                raise transport_failure(error, call.base_url, timeouts) from error
            try:
                if options.on_response is not None:
                    headers = {name.lower(): value for name, value in response.headers.items()}
                    await watch(options.on_response(response.status_code, headers))
                async for event in _decoded(call, response, watch, Progress(timeouts.progress)):
                    yield event
            finally:
                await request.__aexit__(None, None, None)
    except (sdk.OpenAIError, httpx.HTTPError) as error:
        raise _failure(sdk, error, call, options, timeouts) from error
    finally:
        watch.close()


async def _decoded(
    call: Call, response: Any, watch: AbortWatch, progress: Progress
) -> AsyncGenerator[tuple[str, bytes]]:
    decoder = SseDecoder()
    chunks = response.iter_bytes().__aiter__()
    first = True
    while (chunk := await watch(anext(chunks, b""))) or first:
        if first and chunk.isspace():  # some gateways send it while they wait
            progress.note(advanced=False)
            continue
        if first and chunk.lstrip()[:1] in (b"<", b"{", b"["):  # no event stream begins like this
            for data in await watch(_whole(call, response, chunk, chunks)):
                yield "message", data
            return
        first = False
        events = decoder.feed(chunk)
        for event in events:
            watch.raise_if_aborted()
            yield event
        if not chunk:
            break
        progress.note(advanced=bool(events))
    for event in decoder.close():
        yield event


async def _whole(call: Call, response: Any, chunk: bytes, chunks: AsyncIterator[bytes]) -> list[bytes]:
    """Return the events of an answer that is not streamed; reject HTML and other JSON with status 200."""
    pieces, size = [chunk], len(chunk)
    async for piece in chunks:
        pieces.append(piece)
        size += len(piece)
        if size > _WHOLE_BYTES:
            break
    content = b"".join(pieces)
    with suppress(ValueError):
        if events := call.from_whole(parse_json(content)):
            return [compact_json(event).encode() for event in events]
    raise answer_failure(response.status_code, _lower(response.headers), content)


async def _client(sdk: Any, httpx: Any, call: Call, options: StreamOptions, user_agent: str) -> Any:
    timeouts = Timeouts.of(options)
    headers = {"user-agent": user_agent, **call.headers, **(options.headers or {})}
    common: dict[str, Any] = {
        "base_url": call.base_url.rstrip("/"),
        "max_retries": options.max_retries or 0,
        "default_headers": headers,
        "timeout": httpx.Timeout(timeouts.idle, connect=timeouts.connect),
        # A redirect would send the key to another host.
        "http_client": sdk.DefaultAsyncHttpxClient(follow_redirects=False, verify=tls_context(httpx)),
    }
    if call.azure_version is None:
        return sdk.AsyncOpenAI(api_key=call.key or _NO_KEY, **common)
    if call.key and not call.key_is_token:
        return sdk.AsyncAzureOpenAI(api_key=call.key, api_version=call.azure_version, **common)
    token = call.key
    if token is None:
        from pi_provider_openai.entra import entra_token

        token = await entra_token()
    return sdk.AsyncAzureOpenAI(azure_ad_token=token, api_version=call.azure_version, **common)


def _sdk() -> tuple[Any, Any]:
    """Return the SDK, and the HTTP client that it is built on: reading a body raises its errors."""
    try:
        return import_module("openai"), import_module("httpx2")
    except ImportError as error:
        message = (
            "The transport 'sdk' needs the package openai."
            " Install pluggypi-provider-openai[sdk], or choose another transport."
        )
        raise RequestFailed(message) from error


def _failure(sdk: Any, error: Any, call: Call, options: StreamOptions, timeouts: Timeouts) -> RequestFailed:
    """Return the failure as the kit's transport has it, so that messages are the same."""
    if isinstance(error, sdk.APIStatusError):
        response = error.response
        return answer_failure(
            error.status_code,
            _lower(response.headers),
            _content(response),
            error_text=call.error_text,
            secrets=secrets_of({**call.headers, **(options.headers or {})}, call.key),
        )
    if isinstance(error, sdk.APIConnectionError):
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        return transport_failure(cause, str(error.request.url), timeouts)
    if isinstance(error, sdk.OpenAIError):
        reason = str(error).rstrip(".")
        return RequestFailed(
            f"The openai SDK cannot make the request: {reason}. Check the key, or choose another transport."
        )
    return transport_failure(error, call.base_url, timeouts, status=200)


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _content(response: Any) -> bytes:
    try:
        content: bytes = response.content
    except Exception:  # noqa: BLE001 - an unread body is empty; the status is enough
        return b""
    return content
