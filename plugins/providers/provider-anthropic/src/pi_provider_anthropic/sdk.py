"""The other transport: the vendor's own client makes the request, for cloud identities or on request.

The SDK takes more than a second to import, so that it is imported here, in functions, and nowhere else. It answers with
the same events as the kit's transport, for the same codec, and fails with the same errors.
"""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import asynccontextmanager, suppress
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import PiError, RequestFailed
from pi_provider_anthropic.identity import is_bearer
from pi_provider_anthropic.whole import whole_events
from pi_provider_anthropic.wire_events import broken, error_of
from pi_provider_kit import (
    AbortWatch,
    Timeouts,
    answer_failure,
    parse_json,
    secrets_of,
    tls_context,
    transport_failure,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_provider_anthropic.compat import Compat

__all__ = ["sdk_events"]

_CLOUD_VERSIONS = {"bedrock": "bedrock-2023-05-31", "vertex": "vertex-2023-10-16"}
"""What the clouds call version 2023-06-01. The SDK's own is newer: without temperature, and not for older models."""


async def sdk_events(
    model: Model, payload: dict[str, Any], headers: dict[str, str], options: StreamOptions, compat: Compat
) -> AsyncGenerator[dict[str, Any]]:
    """Send the payload through the SDK and yield the API's events as plain data.

    Raises:
        RequestFailed: The request failed, or the SDK is not installed or lacks what its cloud needs.
        Aborted: ``options.signal`` was set.
    """
    waits = Timeouts.of(options)
    watch = AbortWatch(options.signal)
    try:
        async with _client(model, options, compat, waits) as client:
            sent = _sent_headers(headers, options, compat)
            try:  # the SDK's own limits are for single reads; its retries take their time
                within = None if options.max_retries else waits.opening
                stream = await watch(_opened(client, _versioned(payload, compat), sent), within)
            except TimeoutError as error:
                raise transport_failure(error, model.base_url, waits) from error
            try:
                await _report_response(options, stream.response)
                for whole in await watch(_whole(stream.response, options)):
                    yield whole
                events = aiter(stream)
                while (event := await watch(anext(events, None), waits.progress)) is not None:
                    watch.raise_if_aborted()  # one read may bring many events
                    yield event.to_dict(mode="json", exclude_unset=True)
            finally:
                await stream.close()
    except (PiError, asyncio.CancelledError, GeneratorExit):
        raise
    except Exception as error:
        response = getattr(error, "response", None)
        if response is not None and not response.is_success:
            await _report_response(options, response)
        raise _failure(error, options, waits) from error
    finally:
        watch.close()


def _sent_headers(headers: dict[str, str], options: StreamOptions, compat: Compat) -> dict[str, Any]:
    """Return the headers to send: the key stays where the host looks for it; a cloud's client puts it there itself."""
    from anthropic import omit

    if not options.api_key:
        return dict(headers)
    if compat.sdk_client != "anthropic":
        return {name: value for name, value in headers.items() if options.api_key not in value}
    return {"authorization": omit, **headers}


def _versioned(payload: dict[str, Any], compat: Compat) -> dict[str, Any]:
    """Return the payload with the version of the API that it is written for, which two clouds require in the body."""
    version = _CLOUD_VERSIONS.get(compat.sdk_client)
    return payload if version is None else {"anthropic_version": version, **payload}


def _opened(client: Any, payload: dict[str, Any], headers: dict[str, Any]) -> Awaitable[Any]:
    """Start the request. Fields that the SDK need not process go into ``extra_body``, which is sent unchanged."""
    own = {name: payload[name] for name in ("model", "messages", "max_tokens") if name in payload}
    rest = {name: value for name, value in payload.items() if name not in own and name != "stream"}
    opened: Awaitable[Any] = client.beta.messages.create(
        **own, stream=True, extra_body=rest, extra_headers={**headers, "accept": "text/event-stream"}
    )
    return opened


async def _report_response(options: StreamOptions, response: Any) -> None:
    if options.on_response is not None:
        await options.on_response(response.status_code, _lower(response.headers))


async def _whole(response: Any, options: StreamOptions) -> list[dict[str, Any]]:
    """Return the events of an answer that is not streamed; reject HTML and other JSON with status 200."""
    if not response.headers.get("content-type", "").startswith(("text/html", "application/json")):
        return []
    content = await response.aread()
    with suppress(ValueError):
        if events := whole_events(parse_json(content)):
            return events
    raise answer_failure(response.status_code, _lower(response.headers), content, secrets=_secrets(options))


# The client


@asynccontextmanager
async def _client(model: Model, options: StreamOptions, compat: Compat, waits: Timeouts) -> AsyncIterator[Any]:
    try:
        import anthropic
        import httpx2
    except ImportError as error:
        raise RequestFailed(
            f"The SDK transport of model {model.reference!r} needs the package 'anthropic' ({error}). Install "
            "'pluggypi-provider-anthropic[sdk]', for Bedrock [bedrock], for Vertex [vertex]."
        ) from error
    timeout = httpx2.Timeout(waits.idle, connect=waits.connect, read=waits.idle)
    # Redirects are not followed, as in the kit: they would send the key to another host.
    http = anthropic.DefaultAsyncHttpxClient(timeout=timeout, follow_redirects=False, verify=tls_context(httpx2))
    common = {"http_client": http, "max_retries": options.max_retries or 0}
    makers = {"bedrock": _bedrock, "vertex": _vertex, "foundry": _foundry, "anthropic": _anthropic}
    make = makers.get(compat.sdk_client)
    if make is None:
        raise RequestFailed(f"sdkClient {compat.sdk_client!r} is unknown, use one of {', '.join(sorted(makers))}")
    name, own = make(model, options)
    async with http:
        yield getattr(anthropic, name)(**own, **common)


def _anthropic(model: Model, options: StreamOptions) -> tuple[str, dict[str, Any]]:
    """Without a key the SDK uses its own sources: its environment variables, profiles, workload identity."""
    own: dict[str, Any] = {"base_url": _root(model.base_url)} if model.base_url else {}
    if options.api_key:
        own["auth_token" if is_bearer(options.api_key) else "api_key"] = options.api_key
    return "AsyncAnthropic", own


def _bedrock(model: Model, options: StreamOptions) -> tuple[str, dict[str, Any]]:
    """Amazon's own addresses name a region, which the environment overrides; other addresses are kept."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    found = re.search(r"bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com", model.base_url)
    own: dict[str, Any] = {"aws_region": region or (found[1] if found else None)}
    if model.base_url and not found:
        own["base_url"] = model.base_url
    if options.api_key:
        own["api_key"] = options.api_key
    return "AsyncAnthropicBedrock", own


def _vertex(model: Model, options: StreamOptions) -> tuple[str, dict[str, Any]]:
    """With core's placeholder for ambient credentials (``<authenticated>``) the SDK finds them."""
    found = re.search(r"([a-z0-9-]+)-aiplatform\.googleapis\.com", model.base_url)
    region = os.environ.get("GOOGLE_CLOUD_LOCATION") or (found[1] if found else None)
    project = os.environ.get("GOOGLE_CLOUD_PROJECT") or os.environ.get("GCLOUD_PROJECT")
    own: dict[str, Any] = {"region": region, "project_id": project}
    if model.base_url and "aiplatform.googleapis.com" not in model.base_url:
        own["base_url"] = model.base_url
    if options.api_key and not options.api_key.startswith("<"):
        own["access_token"] = options.api_key
    return "AsyncAnthropicVertex", {name: value for name, value in own.items() if value is not None}


def _foundry(model: Model, options: StreamOptions) -> tuple[str, dict[str, Any]]:
    """A token of Entra is recognised by its format; any other key is sent as an API key."""
    own: dict[str, Any] = {"base_url": model.base_url} if model.base_url else {}
    key = options.api_key
    if key and key.startswith("eyJ"):

        async def token() -> str:
            return key

        own["azure_ad_token_provider"] = token
    elif key:
        own["api_key"] = key
    return "AsyncAnthropicFoundry", own


def _root(base_url: str) -> str:
    return base_url.rstrip("/").removesuffix("/v1")


# Failures


def _failure(error: Exception, options: StreamOptions, waits: Timeouts) -> RequestFailed:
    """Return the failure for an error of the SDK, as the kit's transport has it."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        return _refused(error, options)
    if isinstance(error, anthropic.APIConnectionError):
        cause = error.__cause__ if isinstance(error.__cause__, Exception) else error
        return transport_failure(cause, str(error.request.url), waits)
    if isinstance(error, httpx2.RequestError | TimeoutError):
        return transport_failure(error, "", waits, status=200)
    if isinstance(error, JSONDecodeError):
        return broken(f"an event is not JSON ({error})")
    reason = (str(error) or type(error).__name__).rstrip(".")
    return RequestFailed(
        f"The anthropic SDK cannot make the request: {reason}."
        " Check the key or the cloud's own variables, or choose another transport."
    )


def _refused(error: Any, options: StreamOptions) -> RequestFailed:
    response = error.response
    if response.is_success:  # an error event within the answer
        body = error.body if isinstance(error.body, dict) else {"type": "error", "error": {"message": str(error)}}
        return error_of(body)
    return answer_failure(response.status_code, _lower(response.headers), response.content, secrets=_secrets(options))


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _secrets(options: StreamOptions) -> list[str]:
    return secrets_of(options.headers or {}, options.api_key)
