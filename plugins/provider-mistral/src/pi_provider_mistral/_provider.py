"""The API id ``mistral-conversations`` behind the provider contract: one request, and how it ends."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import Http

__all__ = ["MistralConversations"]


class MistralConversations:
    """Implements the API id ``mistral-conversations``.

    Args:
        http: The way to the network, for tests and unusual networks.
    """

    api = "mistral-conversations"

    def __init__(self, http: Http | None = None) -> None:
        self._http = http

    async def stream(
        self, model: Model, context: Context, options: StreamOptions
    ) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_kit import AnswerBuilder, Http, HttpRequest, final_payload, stream_events
        from pi_provider_mistral._reading import Reading
        from pi_provider_mistral._request import ERROR_TEXT, chat_url, to_headers, to_payload

        if self._http is None:
            self._http = Http()
        builder = AnswerBuilder(model)
        try:
            request = HttpRequest(
                url=chat_url(model.base_url),
                body=await final_payload(to_payload(model, context, options), model, options),
                headers=to_headers(model, options),
                error_text=ERROR_TEXT,
            )
            reading = Reading(builder)
            async with aclosing(stream_events(self._http, request, options)) as events:
                async for _, data in events:
                    for event in reading.feed(data):
                        yield event
                    if reading.finished:
                        return
            for event in reading.end():
                yield event
        except Exception as problem:  # noqa: BLE001 - a request that fails is an answer, whatever failed
            yield builder.end_for(problem, options)
