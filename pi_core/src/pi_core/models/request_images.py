"""The images of a request: what an API would refuse is fitted or left out of the request, and stays in the session.

Images are fitted when they enter a session. This is for those that entered it otherwise: in sessions of older versions,
with another model's limits, as too many, or broken by a tool. Each image is examined once, and then looked up.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from functools import reduce, wraps
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from attrs import evolve

from pi_core.agent.convert import without_images
from pi_core.agent.stream import closing
from pi_core.base.folds import Fold
from pi_hookspecs.content import ImageContent, TextContent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from pi_core.base.images.limits import ImageLimits
    from pi_core.settings import Settings
    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamFunction, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent

__all__ = ["RequestImages"]

_KNOWN = 2000
"""Images whose examination is remembered."""
_MOST = 256 * 1024 * 1024
"""Bytes of the images that are sent in place of others, which are remembered too."""
_CONVERSATIONS = 4
"""Conversations whose images are remembered, so that only those of new messages are looked for."""
_UNKNOWN = object()
_SHARE = 0.75
"""Share of a request's bytes that images may have; the rest is for texts and tools."""
_STEP = 5
"""Images are left out in groups of a fifth of the limit: each change ends the provider's cache of the prompt."""
_TOO_MANY = "[Image omitted: the model takes {} images in a {}, and newer ones are sent.]"
_TOO_LARGE = "[Image omitted: the conversation has more images than fit into a request, and newer ones are sent.]"


_Sent: TypeAlias = "ImageContent | str | None"
"""What is sent for an image: None for the image itself, another image, or a text in its place."""


class _Place(NamedTuple):
    """An image of a context: the index of its message, that of its block, and the block."""

    message: int
    block: int
    image: ImageContent


class _Found(NamedTuple):
    """The number of messages of a context, its images, and whether blocks are in lists, which can change in place."""

    messages: int = 0
    places: tuple[_Place, ...] = ()
    has_lists: bool = False

    def after(self, message: Message) -> _Found:
        """Return what there is with one more message."""
        places, has_lists = self.places, self.has_lists
        if message.role in ("user", "toolResult") and not isinstance(message.content, str):
            blocks = enumerate(message.content)
            new = [_Place(self.messages, at, block) for at, block in blocks if isinstance(block, ImageContent)]
            places = (*places, *new) if new else places
            has_lists = has_lists or not isinstance(message.content, tuple)
        return _Found(self.messages + 1, places, has_lists)


class RequestImages:
    """Makes the images of requests acceptable to their models.

    Args:
        settings: Read for ``images.autoResize`` and ``images.blockImages``.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._known: OrderedDict[tuple[Any, ...], _Sent] = OrderedDict()
        self._size = 0
        self._found: Fold[Message, _Found] = Fold(_Found, _Found.after, most=_CONVERSATIONS)

    def stream_with(self, stream: StreamFunction) -> StreamFunction:
        """Return a stream function that makes a request's images acceptable, and then calls a provider's."""

        @wraps(stream)
        def with_images(model: Model, context: Context, options: StreamOptions) -> Any:
            places = self._images(context.messages)
            if not places:
                return stream(model, context, options)
            if self._settings.get_bool("images.blockImages", default=False):
                return stream(model, without_images(context), options)
            from pi_core.base.images.limits import known_limits

            limits = known_limits(model)
            if limits is None or "image" not in model.input:  # in the second case, the provider sends a text instead
                return stream(model, context, options)
            limits = _for_number(limits, len(places))
            resize = self._settings.get_bool("images.autoResize", default=True)
            known = [self._known.get(_key(each.image, limits, resize), _UNKNOWN) for each in places]
            if _UNKNOWN not in known:
                return stream(model, _sendable(context, places, known, limits), options)
            return self._later(stream, model, context, options, (places, limits, resize))

        return with_images

    def _images(self, messages: Sequence[Message]) -> tuple[_Place, ...]:
        found = self._found.of(messages)
        return (reduce(_Found.after, messages, _Found()) if found.has_lists else found).places

    async def _later(
        self,
        stream: StreamFunction,
        model: Model,
        context: Context,
        options: StreamOptions,
        found: tuple[Sequence[_Place], ImageLimits, bool],
    ) -> AsyncIterator[AssistantMessageEvent]:
        places, limits, resize = found
        known: list[_Sent] = []
        for place in places:
            key = _key(place.image, limits, resize)
            if key not in self._known:
                self._keep(key, await asyncio.to_thread(_examined, place.image, limits, resize))
            known.append(self._known[key])
        async with closing(stream(model, _sendable(context, places, known, limits), options)) as events:
            async for event in events:
                yield event

    def _keep(self, key: tuple[Any, ...], sent: _Sent) -> None:
        self._known[key] = sent
        self._size += _size(sent)
        while len(self._known) > _KNOWN or (self._size > _MOST and len(self._known) > 1):
            self._size -= _size(self._known.popitem(last=False)[1])


def _size(sent: _Sent) -> int:
    return len(sent.data) if isinstance(sent, ImageContent) else 0


def _sendable(context: Context, places: Sequence[_Place], known: Sequence[Any], limits: ImageLimits) -> Context:
    changes: dict[tuple[int, int], ImageContent | TextContent] = {}
    sent: list[_Place] = []
    for place, instead in zip(places, known, strict=True):
        if isinstance(instead, str):
            changes[place.message, place.block] = TextContent(instead)
            continue
        if instead is not None:
            changes[place.message, place.block] = instead
        sent.append(place if instead is None else place._replace(image=instead))
    for place, why in _too_many(sent, limits):
        changes[place.message, place.block] = TextContent(why)
    return _changed(context, changes) if changes else context


def _key(image: ImageContent, limits: ImageLimits, resize: bool) -> tuple[Any, ...]:  # noqa: FBT001 - passed on
    data = image.data
    return hash(data), len(data), image.mime_type, limits.side, limits.accepted, limits.formats, limits.width, resize


def _for_number(limits: ImageLimits, number: int) -> ImageLimits:
    if limits.many is None or number <= limits.many:
        return limits
    return evolve(limits, side=min(limits.side, limits.many_side))


def _examined(image: ImageContent, limits: ImageLimits, resize: bool) -> ImageContent | str | None:  # noqa: FBT001 - a call in a thread
    """Return what is sent for an image. One that looks sound by its header is not decoded."""
    from pi_core.base.images.fitting import decode_base64, fit_image
    from pi_core.base.images.header import read_header

    try:
        header = read_header(decode_base64(image.data))
    except ValueError:
        header = None
    width, height = (limits.width, limits.height) if resize else (limits.side, limits.side)
    if (
        header is not None
        and header.complete
        and header.mime_type == image.mime_type.lower()
        and header.mime_type in limits.formats
        and header.width <= min(width, limits.side)
        and header.height <= min(height, limits.side)
        and len(image.data) <= (min(limits.size, limits.accepted) if resize else limits.accepted)
    ):
        return None
    fitted = fit_image(image.data, limits, resize=resize)
    if fitted.omitted:
        return fitted.notes[0]
    return evolve(image, data=fitted.data, mime_type=fitted.mime_type)


def _too_many(places: Sequence[_Place], limits: ImageLimits) -> Iterable[tuple[_Place, str]]:
    """Yield the images above the limits of number and size, with the line that is sent instead; the oldest first."""
    left = list(places)
    if limits.per_message is not None:
        for message in {each.message for each in left}:
            of_message = [each for each in left if each.message == message]
            for place in of_message[: max(0, len(of_message) - limits.per_message)]:
                left.remove(place)
                yield place, _TOO_MANY.format(limits.per_message, "message")
    if limits.per_request is not None:
        number = _in_steps(len(left) - limits.per_request, limits.per_request, len(left))
        yield from ((place, _TOO_MANY.format(limits.per_request, "request")) for place in left[:number])
        left = left[number:]
    if limits.request is not None:
        most = int(limits.request * _SHARE)
        sums = list(accumulate(len(each.image.data) for each in reversed(left)))
        number = _in_steps(sum(each > most for each in sums), len(left), len(left))
        yield from ((place, _TOO_LARGE) for place in left[:number])


def _in_steps(number: int, limit: int, most: int) -> int:
    """Return how many are left out if at least ``number`` have to be; the newest image always stays."""
    step = max(1, limit // _STEP)
    return min(max(0, most - 1), -(-max(0, number) // step) * step)


def _changed(context: Context, changes: dict[tuple[int, int], ImageContent | TextContent]) -> Context:
    messages: list[Message] = list(context.messages)
    for index in {message for message, _ in changes}:
        message: Any = messages[index]
        content = tuple(changes.get((index, at), block) for at, block in enumerate(message.content))
        messages[index] = evolve(message, content=content)
    return evolve(context, messages=tuple(messages))
