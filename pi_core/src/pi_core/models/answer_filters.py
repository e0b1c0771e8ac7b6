"""Passes the events of answers through the ``AnswerFilter`` services of plugins."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.safe_text import format_exception
from pi_core.agent.stream import closing
from pi_hookspecs.content import ToolCall
from pi_hookspecs.errors import PluginError
from pi_hookspecs.stream import Error, MessageBuilder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from pi_core.host import PluginHost
    from pi_core.settings import Settings
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamFunction, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent

    Filter = tuple[str, Callable[[AssistantMessageEvent], Iterable[AssistantMessageEvent]]]

__all__ = ["KIND", "stream_with_filters"]

KIND = "AnswerFilter"


def stream_with_filters(stream: StreamFunction, host: PluginHost, settings: Settings) -> StreamFunction:
    """Return a stream function whose events the filters of plugins have changed.

    Args:
        stream: Makes the request.
        host: Provides the services.
        settings: The user's settings, for the services.
    """

    @wraps(stream)
    def with_filters(model: Model, context: Context, options: StreamOptions) -> Any:
        filters: list[Filter] = []
        for each in host.services(KIND):
            try:
                found = each.thing.filter_answer(model, context, options, settings)
            except Exception as error:
                raise _failure(each.plugin, error) from error
            if found is not None:
                filters.append((each.plugin, found))
        events: Any = stream(model, context, options)
        return _filtered(model, events, filters) if filters and hasattr(events, "__aiter__") else events

    return with_filters


async def _filtered(
    model: Model, events: AsyncIterator[AssistantMessageEvent], filters: Sequence[Filter]
) -> AsyncIterator[AssistantMessageEvent]:
    through: Iterable[AssistantMessageEvent]
    first, is_only = filters[0][1], len(filters) == 1
    async with closing(events):
        async for event in events:
            try:
                through = tuple(first(event)) if is_only else _through(event, filters)
            except Exception as error:  # noqa: BLE001 - of a plugin
                failure = error if isinstance(error, PluginError) else _failure(filters[0][0], error)
                yield _ended_by(failure, model, event)
                return
            for changed in through:
                yield changed


def _through(event: AssistantMessageEvent, filters: Sequence[Filter]) -> Iterable[AssistantMessageEvent]:
    found: Iterable[AssistantMessageEvent] = (event,)
    for plugin, change in filters:
        try:
            found = [changed for each in found for changed in change(each)]
        except Exception as error:
            raise _failure(plugin, error) from error
    return found


def _ended_by(failure: PluginError, model: Model, event: Any) -> Error:
    """Return the end of an answer whose filter failed: the text that was received is kept, and no call."""
    received = getattr(event, "message", None) or getattr(event, "error", None) or event.partial
    content = tuple(block for block in received.content if not isinstance(block, ToolCall))
    error = MessageBuilder(model).fail(failure).error
    return Error(error=evolve(error, content=content, usage=received.usage))


def _failure(plugin: str, error: Exception) -> PluginError:
    what = f"failed while it read an answer: {format_exception(error)}. Disable it with --disable {plugin}"
    return PluginError(plugin, f"Plugin {plugin!r} {what}")
