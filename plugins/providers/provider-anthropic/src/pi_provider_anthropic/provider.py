"""The API id ``anthropic-messages`` behind the provider contract: selects the transport."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import evolve

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_anthropic.identity import ToolNames
    from pi_provider_anthropic.reading import Reading
    from pi_provider_kit import Http

API = "anthropic-messages"


class AnthropicMessages:
    """Implements the API id ``anthropic-messages``.

    Args:
        http: The HTTP client, for tests and unusual networks.
    """

    api = API

    def __init__(self, http: Http | None = None) -> None:
        self._http = http

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_anthropic.identity import ToolNames, is_oauth
        from pi_provider_kit import read_answer

        names = ToolNames(context.tools, claude_code=is_oauth(options.api_key))

        @cache
        def reader() -> Reading:
            from pi_provider_anthropic.reading import Reading
            from pi_provider_kit import AnswerBuilder

            return Reading(AnswerBuilder(model), names)

        return read_answer(self._events(model, context, options, names, reader), reader, options)

    async def _events(
        self, model: Model, context: Context, options: StreamOptions, names: ToolNames, reader: Callable[[], Reading]
    ) -> AsyncGenerator[dict[str, Any]]:
        """Make the request and yield the API's events."""
        from pi_provider_anthropic.compat import Compat
        from pi_provider_anthropic.identity import to_headers
        from pi_provider_anthropic.payload import to_payload
        from pi_provider_anthropic.whole import whole_events
        from pi_provider_anthropic.wire_events import parse_event
        from pi_provider_kit import Http, HttpRequest, final_payload, stream_events

        compat = Compat.of(model)
        payload = await final_payload(to_payload(model, context, options, compat, names), model, options)
        headers = to_headers(model, options, compat, payload)
        if "sdk" in (options.transport, compat.transport):
            from pi_provider_anthropic.sdk import sdk_events

            async with aclosing(sdk_events(model, payload, headers, options, compat)) as events:
                async for event in events:
                    yield event
            return
        if self._http is None:
            self._http = Http()
        url = messages_url(model.base_url)
        request = HttpRequest(url=url, body=payload, headers=headers, on_sent=reader, from_whole=whole_events)
        async with aclosing(stream_events(self._http, request, evolve(options, headers=None))) as raw:
            async for name, data in raw:
                yield parse_event(name, data)


def messages_url(base_url: str) -> str:
    """Return the URL of messages; a base URL may end in ``/v1``."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages?beta=true"
