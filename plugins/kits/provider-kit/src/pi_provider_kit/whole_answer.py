"""Answers of APIs that do not stream: one JSON document, which a function turns into the blocks of an answer.

Image models and classifiers have such APIs. Whatever goes wrong is an answer that failed, as with a stream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_hookspecs.errors import MissingKey
from pi_provider_kit.builder import AnswerBuilder
from pi_provider_kit.request import fetch_json, final_payload

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit.http_client import Http
    from pi_provider_kit.request import HttpRequest

__all__ = ["add_text", "answer_whole", "user_content"]


async def answer_whole(
    http: Http,
    prepare: Callable[[], HttpRequest],
    fill: Callable[[AnswerBuilder, Any], object],
    model: Model,
    options: StreamOptions,
) -> AsyncIterator[AssistantMessageEvent]:
    """Make a request and yield its answer: exactly one ``Done`` or ``Error`` is the last event.

    Args:
        http: The provider's connections.
        prepare: Returns the request, with the payload as its body; it may raise ``RequestFailed``.
        fill: Adds the blocks and the usage of the parsed JSON to the answer. It raises ``RequestFailed`` if the answer
            reports a failure; any other exception also fails the answer.
        model: The model.
        options: The options of the request.

    Raises:
        MissingKey: There is no key; this is not reported as an answer.
    """
    builder = AnswerBuilder(model)
    try:
        request = prepare()
        payload = await final_payload(request.body, model, options)
        received = await fetch_json(http, evolve(request, body=payload), options)
        fill(builder, received)
    except MissingKey:
        raise
    except Exception as problem:  # noqa: BLE001 - any failed request is an answer
        yield builder.end_for(problem, options)
        return
    yield builder.start()
    yield builder.done()


def add_text(builder: AnswerBuilder, text: str) -> None:
    """Add a whole text to an answer."""
    place = builder.text_start().content_index
    builder.text(place, text)
    builder.text_end(place)


def user_content(messages: Any) -> tuple[str, list[Any]]:
    """Return the text and the images of the last message of a request."""
    from pi_hookspecs.content import ImageContent

    content = messages[-1].content if messages else ""
    images = [] if isinstance(content, str) else [each for each in content if isinstance(each, ImageContent)]
    return (messages[-1].text if messages else ""), images
