"""The API id ``anthropic-messages`` behind the provider contract: selects the transport."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from attrs import define, evolve

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.identity import ToolNames
    from pi_provider_anthropic.reading import Reading
    from pi_provider_anthropic.threads import Threads, ThreadTurn
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
        self._threads: Threads | None = None

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_anthropic.compat import Compat
        from pi_provider_anthropic.identity import ToolNames, is_oauth
        from pi_provider_kit import read_answer

        names = ToolNames(context.tools, claude_code=is_oauth(options.api_key))

        @cache
        def reader() -> Reading:
            from pi_provider_anthropic.reading import Reading
            from pi_provider_kit import AnswerBuilder

            return Reading(AnswerBuilder(model), names)

        request = _Request(model, options, Compat.of(model), names, reader)
        answer = read_answer(self._events(request, context), reader, options)
        return _remembering(answer, request) if request.has_threads else answer

    async def _events(self, request: _Request, context: Context) -> AsyncGenerator[dict[str, Any]]:
        """Make the request and yield the API's events; a thread that the server refuses is begun again, or left."""
        from pi_hookspecs.errors import RequestFailed
        from pi_provider_anthropic.payload import to_payload
        from pi_provider_kit import final_payload

        model, options = request.model, request.options
        payload = to_payload(model, context, options, request.compat, request.names)
        payload = await final_payload(payload, model, options)
        turn = request.turn = self._thread_turn(request, payload)
        waiting = True
        while waiting:
            body = payload if turn is None else turn.body()
            try:
                async with aclosing(self._sent(request, body)) as events:
                    async for event in events:
                        waiting = False
                        yield event
                waiting = False
            except RequestFailed as error:
                if turn is None or not waiting or not turn.recovers(error):
                    raise

    def _thread_turn(self, request: _Request, payload: dict[str, Any]) -> ThreadTurn | None:
        if not request.has_threads or not isinstance(payload.get("messages"), list):
            return None
        from pi_provider_anthropic.threads import Threads

        if self._threads is None:
            self._threads = Threads()
        account = f"{request.model.base_url} {request.options.api_key}"
        return self._threads.turn(request.options.session_id or "", account, payload)

    async def _sent(self, request: _Request, payload: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
        """Send a body and yield the API's events."""
        from pi_provider_anthropic.identity import to_headers
        from pi_provider_anthropic.whole import whole_events
        from pi_provider_anthropic.wire_events import parse_event
        from pi_provider_kit import Http, HttpRequest, stream_events

        model, options, compat = request.model, request.options, request.compat
        headers = to_headers(model, options, compat, payload)
        if "sdk" in (options.transport, compat.transport):
            from pi_provider_anthropic.sdk import sdk_events

            async with aclosing(sdk_events(model, payload, headers, options, compat)) as events:
                async for event in events:
                    yield event
            return
        if self._http is None:
            self._http = Http()
        sent = HttpRequest(
            url=messages_url(model.base_url),
            body=payload,
            headers=headers,
            on_sent=request.reader,
            from_whole=whole_events,
        )
        async with aclosing(stream_events(self._http, sent, evolve(options, headers=None))) as raw:
            async for name, data in raw:
                yield parse_event(name, data)


@define(eq=False)
class _Request:
    """What one answer is asked for with."""

    model: Model
    options: StreamOptions
    compat: Compat
    names: ToolNames
    reader: Callable[[], Reading]
    turn: ThreadTurn | None = None

    @property
    def has_threads(self) -> bool:
        """Whether the server may hold the conversation."""
        return self.compat.message_threads and bool(self.options.session_id) and self.options.cache_retention != "none"


async def _remembering(
    answer: AsyncIterator[AssistantMessageEvent], request: _Request
) -> AsyncGenerator[AssistantMessageEvent]:
    """Yield the events of an answer; if it is complete, the session's next request continues its thread."""
    async with aclosing(cast("AsyncGenerator[AssistantMessageEvent]", answer)) as events:
        async for event in events:
            if event.type == "done" and request.turn is not None:
                from pi_provider_anthropic.messages import to_messages

                converted = to_messages([event.message], request.model, request.compat, request.names)
                request.turn.answered(event.message.response_id, converted[:1])
            yield event


def messages_url(base_url: str) -> str:
    """Return the URL of messages; a base URL may end in ``/v1``."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages?beta=true"
