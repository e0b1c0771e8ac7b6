"""The API id ``mistral-conversations`` behind the provider contract: one request and its answer."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import Http
    from pi_provider_mistral.reading import Reading

__all__ = ["MistralConversations"]


class MistralConversations:
    """Implements the API id ``mistral-conversations``.

    Args:
        http: The HTTP client, for tests and unusual networks.
    """

    api = "mistral-conversations"

    def __init__(self, http: Http | None = None) -> None:
        self._http = http

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_kit import read_answer

        @cache
        def reader() -> Reading:
            from pi_provider_kit import AnswerBuilder, SentTools
            from pi_provider_mistral.reading import Reading

            return Reading(AnswerBuilder(model, SentTools(context.tools, model)))

        return read_answer(self._events(model, context, options, reader), reader, options)

    async def _events(
        self, model: Model, context: Context, options: StreamOptions, reader: Callable[[], Reading]
    ) -> AsyncGenerator[bytes]:
        """Make the request and yield the data of the API's events."""
        from pi_provider_kit import Http, HttpRequest, error_event, final_payload, stream_events
        from pi_provider_mistral.request import ERROR_TEXT, chat_url, to_headers, to_payload
        from pi_provider_mistral.whole import whole_events

        if self._http is None:
            self._http = Http()
        request = HttpRequest(
            url=chat_url(model.base_url),
            body=await final_payload(to_payload(model, context, options), model, options),
            headers=to_headers(model, options),
            error_text=ERROR_TEXT,
            on_sent=reader,
            from_whole=whole_events,
        )
        async with aclosing(stream_events(self._http, request, options)) as events:
            async for name, data in events:
                yield data if name != "error" else error_event(data)
