"""The API id ``bedrock-converse-stream`` behind the provider contract: a request and its frames."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_bedrock.advice import Circumstances
    from pi_provider_bedrock.credentials import Chain
    from pi_provider_bedrock.frames import Frame
    from pi_provider_bedrock.reading import Reading
    from pi_provider_kit import Http, SentTools

API = "bedrock-converse-stream"


class BedrockConverse:
    """Implements the API id ``bedrock-converse-stream``.

    Args:
        http: The HTTP client, for tests and unusual networks.
    """

    api = API

    def __init__(self, http: Http | None = None) -> None:
        self._http = http
        self._chain: Chain | None = None

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_bedrock.advice import Circumstances
        from pi_provider_kit import SentTools, read_answer

        names, circumstances = SentTools(context.tools, model), Circumstances(model)

        @cache
        def reader() -> Reading:
            from pi_provider_bedrock.reading import Reading
            from pi_provider_kit import AnswerBuilder

            return Reading(AnswerBuilder(model, names))

        def explain(problem: Exception) -> Exception:
            from pi_provider_bedrock.failures import advised

            if getattr(problem, "status", None) == 403 and self._chain is not None:  # noqa: PLR2004 - RFC 9110, 15.5.4
                self._chain.forget()  # they may have been renewed
            return advised(problem, circumstances)

        return read_answer(self._frames(context, options, names, circumstances), reader, options, explain=explain)

    async def _frames(
        self, context: Context, options: StreamOptions, names: SentTools, circumstances: Circumstances
    ) -> AsyncGenerator[Frame]:
        """Make the request and yield the frames of the answer."""
        from attrs import evolve

        from pi_provider_bedrock.credentials import Chain
        from pi_provider_bedrock.frames import MEDIA_TYPE, FrameDecoder
        from pi_provider_bedrock.payload import to_payload
        from pi_provider_bedrock.request import prepared
        from pi_provider_kit import AbortWatch, Http, final_payload, observed, stream_decoded

        if self._http is None:
            self._http = Http()
        if self._chain is None:
            self._chain = Chain()
        model = circumstances.model
        payload = await final_payload(to_payload(model, context, options, names), model, options)
        watched = evolve(options, on_response=circumstances.recording_headers(options.on_response))
        with AbortWatch(options.signal) as watch:
            request = await prepared(payload, options, self._chain, watch, circumstances)
        stream = stream_decoded(self._http, request, watched, FrameDecoder(), accept=MEDIA_TYPE)
        async with aclosing(observed(stream, options, _parsed)) as frames:
            async for frame in frames:
                yield frame


def _parsed(frame: Frame) -> dict[str, Any]:
    """Return an event as the vendor's SDKs do: its type with what it says."""
    from pi_provider_kit import parse_json

    headers, payload = frame
    return {str(headers.get(":event-type") or headers.get(":exception-type")): parse_json(payload)}
