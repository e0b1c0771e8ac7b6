"""The other transport: Google's own client makes the request, and its chunks feed the same codec.

It is imported only where the user selects it. It gets the complete body; its retries are off, and its
responses are taken before it parses them into models, which would drop unknown fields.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pi_hookspecs.errors import PiError, RequestFailed
from pi_provider_google.whole import whole_events
from pi_provider_kit import (
    AbortWatch,
    HttpFailed,
    Timeouts,
    answer_failure,
    compact_json,
    parse_json,
    tls_context,
    transport_failure,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from pi_hookspecs.provider import StreamOptions
    from pi_provider_google.exchange import Call

__all__ = ["sdk_events"]


async def sdk_events(call: Call, options: StreamOptions, user_agent: str) -> AsyncGenerator[bytes]:
    """Make the call with the vendor's client and yield the data of each event.

    Raises:
        RequestFailed: The request failed, or the client is not installed.
        Aborted: ``options.signal`` was set.
    """
    genai, errors, httpx = _sdk()
    timeouts = Timeouts.of(options)
    border = _Border(call, options, timeouts, user_agent)
    try:
        with AbortWatch(options.signal) as watch:
            async with border.http(httpx) as http:
                known = border.options(genai.types, http, tls_context(httpx))
                client = genai.Client(**_who(call), http_options=known)
                # The public method would parse the body and the response.
                api = client.aio._api_client  # noqa: SLF001 - see above
                request = api.async_request_streamed("post", call.path, dict(call.payload))
                chunks = await watch(request, timeouts.opening)  # the client's own limits are for single reads
                while (chunk := await watch(anext(chunks, None), timeouts.progress)) is not None:
                    watch.raise_if_aborted()  # one read may contain many chunks
                    yield (chunk.body or "{}").encode()
    except _Whole as answer:
        for event in answer.events:
            yield compact_json(event).encode()
    except (PiError, GeneratorExit):
        raise
    except errors.APIError as error:  # an event within the answer: rejected requests do not get here
        from pi_provider_google.reading import failure_of

        raise failure_of(error.details) or HttpFailed(_first_line(error), kind="event") from error
    except (httpx.HTTPError, TimeoutError) as error:
        raise transport_failure(error, call.urls[0], timeouts, status=border.status) from error
    except Exception as error:
        raise HttpFailed(f"The SDK google-genai cannot parse it: {_first_line(error)}", kind="event") from error


class _Whole(Exception):
    """The response is one JSON document, which the client would try to read as a stream.

    Attributes:
        events: The events of a stream.
    """

    def __init__(self, events: list[dict[str, Any]]) -> None:
        super().__init__()
        self.events = events


class _Border:
    """Hooks on the client's connection: timeouts, and errors in the kit's format."""

    def __init__(self, call: Call, options: StreamOptions, timeouts: Timeouts, user_agent: str) -> None:
        self.status: int | None = None
        self._call = call
        self._options = options
        self._timeouts = timeouts
        self._headers = {"user-agent": user_agent, **call.headers, **(options.headers or {})}
        self._secrets = [secret for secret in (options.api_key, *call.secrets) if secret]

    def http(self, httpx: Any) -> Any:
        """Return the client's HTTP client, without redirects, which would send the key to another host."""
        hooks = {"request": [self._asked], "response": [self._answered]}
        return httpx.AsyncClient(follow_redirects=False, event_hooks=hooks, verify=tls_context(httpx))

    def options(self, types: Any, http: Any, certificates: Any) -> Any:
        """Return the client's options; the base URL has the version in it already."""
        return types.HttpOptions(
            base_url=self._call.bases[0],
            base_url_resource_scope=types.ResourceScope.COLLECTION,
            headers=self._headers,
            httpx_async_client=http,
            client_args={"verify": certificates},  # for the blocking client, which is created but not used
        )

    async def _asked(self, request: Any) -> None:
        # The client has a single timeout, and sends it to the server as a deadline.
        idle = self._timeouts.idle
        waits = {"connect": self._timeouts.connect, "read": idle, "write": idle, "pool": self._timeouts.connect}
        request.extensions["timeout"] = waits

    async def _answered(self, response: Any) -> None:
        headers = {name.lower(): value for name, value in response.headers.items()}
        if self._options.on_response is not None:
            await self._options.on_response(response.status_code, headers)
        page = headers.get("content-type", "").startswith(("text/html", "application/json"))
        if response.is_success and not page:
            self.status = response.status_code
            return
        content = await response.aread()
        if response.is_success:
            with suppress(ValueError):
                if events := whole_events(parse_json(content)):
                    raise _Whole(events)
        raise answer_failure(
            response.status_code,
            headers,
            content,
            error_text=self._call.error_text,
            secrets=self._secrets,
        )


def _who(call: Call) -> dict[str, Any]:
    """Return the client's credential arguments; a token becomes credentials that are not refreshed."""
    who = dict(call.sdk or {})
    token = who.pop("token", None)
    if token is not None:
        from importlib import import_module

        who["credentials"] = import_module("google.oauth2.credentials").Credentials(token=token)
    if not who.get("vertexai") and not who.get("api_key"):
        raise RequestFailed("The transport 'sdk' needs a key. Set GEMINI_API_KEY, or choose another transport.")
    return who


def _sdk() -> tuple[Any, Any, Any]:
    """Return the SDK, its errors, and the HTTP client that it is built on."""
    from importlib import import_module

    try:
        genai, errors, httpx = map(import_module, ("google.genai", "google.genai.errors", "httpx2"))
    except ImportError as error:
        message = (
            f"The transport 'sdk' needs the package google-genai ({error})."
            " Install pluggypi-provider-google[sdk], or choose another transport."
        )
        raise RequestFailed(message) from error
    return genai, errors, httpx


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]
