"""The API id ``anthropic-messages`` behind the provider contract: selects the transport."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.deferred import frozen

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.identity import ToolNames
    from pi_provider_anthropic.reading import Reading
    from pi_provider_anthropic.threads import Threads, Turn
    from pi_provider_anthropic.tool_changes import ToolChanges
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
        self._changes: ToolChanges | None = None

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_anthropic.compat import Compat
        from pi_provider_anthropic.identity import ToolNames, is_oauth
        from pi_provider_kit import read_answer

        names = ToolNames(context.tools, model, claude_code=is_oauth(options.api_key))
        compat = Compat.of(model)
        turn = self._turn(model, options, compat, names) if compat.has_thread(options) else None

        @cache
        def reader() -> Reading:
            from pi_provider_anthropic.reading import Reading
            from pi_provider_kit import AnswerBuilder

            return Reading(AnswerBuilder(model, names), None if turn is None else turn.answered)

        return read_answer(self._events(model, context, options, _Wire(compat, names, turn, reader)), reader, options)

    def _turn(self, model: Model, options: StreamOptions, compat: Compat, names: ToolNames) -> Turn:
        from pi_provider_anthropic.messages import answer_messages
        from pi_provider_anthropic.threads import Threads, Turn

        if self._threads is None:
            self._threads = Threads()
        account = f"{model.base_url} {options.api_key}"
        session = options.session_id or ""
        return Turn(self._threads, session, account, lambda answer: answer_messages(answer, model, compat, names))

    def _tool_changes(self, compat: Compat) -> ToolChanges | None:
        """Return the tools of the sessions, for a host where changes of tools are told within the conversation."""
        if self._changes is None and compat.tool_changes:
            from pi_provider_anthropic.tool_changes import ToolChanges

            self._changes = ToolChanges()
        return self._changes

    async def _events(
        self, model: Model, context: Context, options: StreamOptions, wire: _Wire
    ) -> AsyncGenerator[dict[str, Any]]:
        """Make the request and yield the API's events; in a thread that was lost, make it again."""
        from pi_provider_anthropic.identity import to_headers
        from pi_provider_anthropic.payload import to_payload
        from pi_provider_anthropic.wire_events import parse_event
        from pi_provider_kit import HttpFailed, final_payload

        compat, turn = wire.compat, wire.turn
        whole = to_payload(model, context, options, compat, wire.names, changes=self._tool_changes(compat))
        body = await final_payload(whole, model, options)
        headers = to_headers(model, context.messages, options, compat, body)
        by_sdk = "sdk" in (options.transport, compat.transport)
        send = self._by_sdk if by_sdk else self._by_http
        if turn is not None:
            body = turn.body(body, headers["anthropic-beta"])
        while True:
            try:
                async with aclosing(send(model, body, headers, options, wire)) as received:
                    async for each in received:
                        yield each if by_sdk else parse_event(*each)
            except HttpFailed as failure:
                instead = None if turn is None else turn.instead(failure)
                if instead is None:
                    raise
                body = instead
            else:
                return

    def _by_http(
        self, model: Model, body: dict[str, Any], headers: dict[str, str], options: StreamOptions, wire: _Wire
    ) -> AsyncGenerator[Any]:
        from pi_provider_anthropic.whole import whole_events
        from pi_provider_kit import Http, HttpRequest, stream_events

        if self._http is None:
            self._http = Http()
        url = messages_url(model.base_url)
        request = HttpRequest(url=url, body=body, headers=headers, on_sent=wire.reader, from_whole=whole_events)
        return stream_events(self._http, request, evolve(options, headers=None))

    def _by_sdk(
        self, model: Model, body: dict[str, Any], headers: dict[str, str], options: StreamOptions, wire: _Wire
    ) -> AsyncGenerator[Any]:
        from pi_provider_anthropic.sdk import sdk_events
        from pi_provider_kit import observed

        return observed(sdk_events(model, body, headers, options, wire.compat), options, lambda event: event)


@frozen(eq=False, repr=False)
class _Wire:
    """How one request is made and its answer is read.

    Attributes:
        turn: Its place in the session's thread, if the host has threads.
    """

    compat: Compat
    names: ToolNames
    turn: Turn | None
    reader: Callable[[], Reading]


def messages_url(base_url: str) -> str:
    """Return the URL of messages; a base URL may end in ``/v1``."""
    return f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages?beta=true"
