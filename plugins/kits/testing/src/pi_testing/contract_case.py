"""A provider's part of its contract suite: the provider, and its API's wire format for scripted answers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from attrs import evolve, frozen

from pi_hookspecs import StreamOptions
from pi_testing.contract_needs import needs
from pi_testing.fake_servers import closed_url, silence
from pi_testing.patience import soon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pi_hookspecs import Model, Provider, Usage
    from pi_testing.fake_servers import Answer, FakeServer

__all__ = [
    "EVERYTHING",
    "Block",
    "Calls",
    "Feature",
    "ProviderCase",
    "Says",
    "ServerCase",
    "Thinks",
    "needs",
]

Feature: TypeAlias = Literal[
    "thinking",
    "tools",
    "broken_arguments",
    "length",
    "usage",
    "cached_usage",
    "images",
    "requests",
    "replay",
    "hooks",
    "http",
    "failure_details",
    "bytes",
    "timeouts",
    "progress",
]
"""Features that a test of the suite may require:

- ``thinking``, ``tools``, ``images``: the API supports them.
- ``usage``: it counts tokens, and the case's model has prices; ``cached_usage``: it counts cached tokens
  separately.
- ``broken_arguments``: it sends arguments as text, so they may be invalid JSON.
- ``length``: an answer can end because it was too long.
- ``requests``: ``sent()`` is the body of the request.
- ``replay``: the conversation is converted to what the API accepts.
- ``hooks``: ``on_payload`` and ``on_response`` may fail.
- ``http``: the API uses HTTP; ``failure_details``: status and requested delay are stored in
  ``message.extra["requestFailure"]``.
- ``bytes``: answers are streams of bytes, which may break off anywhere; ``timeouts``: ``timeout_ms`` bounds each
  silence; ``progress``: ``progress_timeout_ms`` bounds the time in which only pings arrive.
"""

EVERYTHING: frozenset[Feature] = frozenset(get_args(Feature))
"""The features of a case that does not set ``supports``: ``EVERYTHING - {"images"}``."""


@frozen
class Says:
    """Text, in these deltas. None of them is empty, except where there is only that one."""

    deltas: tuple[str, ...]

    @property
    def whole(self) -> str:
        """The complete text."""
        return "".join(self.deltas)


@frozen
class Thinks:
    """Thinking in these deltas, with a signature where the API has signatures."""

    deltas: tuple[str, ...]
    signature: str = "c2lnbmVk"

    @property
    def whole(self) -> str:
        """The complete text."""
        return "".join(self.deltas)


@frozen
class Calls:
    """A call.

    Attributes:
        id: Its id; an API with its own rules for ids may replace it.
        name: Name of the tool.
        arguments: A JSON object.
        raw: The argument text to send instead of the JSON of ``arguments``.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    raw: str | None = None


Block: TypeAlias = Says | Thinks | Calls
"""A part of an answer."""


class ProviderCase(ABC):
    """A provider, and the scenarios that its API can simulate; each applies to the next request.

    For a provider that uses HTTP, extend ``ServerCase`` instead, which lacks only the wire format.

    Attributes:
        provider: The provider under test.
        model: One of its models, with reasoning, image input and prices as far as the case supports them.
        api_key: Sent with every request; it must not appear in any message or error.
        transport: ``StreamOptions.transport`` of every request.
        supports: Supported features. A test that needs another is skipped with the name of the missing feature.
    """

    provider: Provider
    model: Model
    api_key: str | None = "sk-contract-0123456789"
    transport: str | None = None
    supports: frozenset[Feature] = EVERYTHING

    @abstractmethod
    def answers(self, *blocks: Block, usage: Usage | None = None, length: bool = False) -> None:
        """Answer with these blocks.

        Args:
            blocks: The content; none is an empty answer.
            usage: The tokens that the API counts: ``input``, ``output`` and, with ``cached_usage``, ``cache_read``.
            length: The answer ends because it was too long.
        """

    @abstractmethod
    def stalls(self, delta: str) -> None:
        """Send this text and then nothing: no more of the block, and no end."""

    def pings(self, delta: str) -> None:
        """Send this text, and then only pings (``progress``)."""
        raise self._unsupported("progress")

    @abstractmethod
    def waits(self) -> asyncio.Event:
        """Accept the request and never answer; the event is set when it has arrived."""

    async def left(self) -> None:  # noqa: B027 - a no-op is correct for a case without a connection
        """Return when the client has closed the connection of the latest request."""

    def sent(self) -> Any:
        """Return the body of the latest request (``requests``)."""
        raise self._unsupported("requests")

    def refuses(self, status: int, message: str, **headers: str) -> None:
        """Answer with an error in the API's own form (``http``); ``retry_after="7"`` and the like are headers."""
        raise self._unsupported("http")

    def breaks(self, delta: str, message: str) -> None:
        """Send this text, then an error during the answer (``bytes``)."""
        raise self._unsupported("bytes")

    def ends_early(self, delta: str) -> None:
        """Send this text, then end the HTTP response without the API's final event (``bytes``)."""
        raise self._unsupported("bytes")

    def sends(self, answer: Answer) -> None:
        """Answer with exactly this (``http``)."""
        raise self._unsupported("http")

    def recorded(self, *blocks: Block) -> Answer:
        """Return the answer that ``answers`` would give, to be cut and split (``bytes``)."""
        raise self._unsupported("bytes")

    def unreachable(self) -> Model:
        """Return the model with the address of a server that is not running (``http``)."""
        raise self._unsupported("http")

    # Common scenarios

    def text(self, *deltas: str) -> None:
        """Answer with text."""
        self.answers(Says(deltas))

    def thinking(self, thought: str, *deltas: str) -> None:
        """Answer with thinking, and with text where there is any."""
        self.answers(Thinks((thought,)), *([Says(deltas)] if deltas else []))

    def tool_calls(self, calls: Sequence[Calls], *deltas: str) -> None:
        """Answer with calls, after text where there is any."""
        self.answers(*([Says(deltas)] if deltas else []), *calls)

    def empty(self) -> None:
        """Answer with nothing."""
        self.answers()

    def options(self, **fields: Any) -> StreamOptions:
        """Return the options of a request."""
        return StreamOptions(**{"api_key": self.api_key, "transport": self.transport, **fields})

    def _unsupported(self, feature: Feature) -> NotImplementedError:
        kind = type(self).__name__
        return NotImplementedError(f"{kind} claims {feature!r} in supports and does not implement what that takes")


class ServerCase(ProviderCase):
    """A provider that sends requests to a fake server; a subclass defines only the wire format of its API.

    Attributes:
        server: The server at ``model.base_url``.
        event_end: The delimiter that ends an event of the stream.
        ping: A keep-alive message of the stream.
    """

    server: FakeServer
    event_end: bytes = b"\n\n"
    ping: bytes = b": ping\n\n"

    @abstractmethod
    def written(self, blocks: Sequence[Block], *, usage: Usage | None = None, length: bool = False) -> Answer:
        """Return the answer as the API streams it, each delta in a separate event."""

    @abstractmethod
    def written_without_end(self, blocks: Sequence[Block]) -> Answer:
        """Return the answer without the API's final event."""

    @abstractmethod
    def written_error(self, message: str) -> bytes:
        """Return the event by which the API reports an error during an answer."""

    def answers(self, *blocks: Block, usage: Usage | None = None, length: bool = False) -> None:
        """See ``ProviderCase``."""
        self.sends(self.written(blocks, usage=usage, length=length))

    def stalls(self, delta: str) -> None:
        """See ``ProviderCase``."""
        self.sends(self.recorded(Says((delta, " and more"))).stalled(self._behind(delta)))

    def pings(self, delta: str) -> None:
        """See ``ProviderCase``."""
        self.sends(self.recorded(Says((delta, " and more"))).stalled(self._behind(delta), drip=self.ping))

    def waits(self) -> asyncio.Event:
        """See ``ProviderCase``."""
        asked = asyncio.Event()

        def answer(_: Any) -> Answer:
            asked.set()
            return silence()

        self.server.answers(answer)
        return asked

    async def left(self) -> None:
        """See ``ProviderCase``."""
        await soon(self.server.request.client_left.wait(), lambda: "the client to close its connection")

    def sent(self) -> Any:
        """See ``ProviderCase``."""
        return self.server.request.json

    def refuses(self, status: int, message: str, **headers: str) -> None:
        """See ``ProviderCase``."""
        self.sends(self.server.error(status, message).with_headers(**headers))

    def breaks(self, delta: str, message: str) -> None:
        """See ``ProviderCase``."""
        answer = self.recorded(Says((delta, " and more")))
        kept = answer.body[: self._behind(delta)]
        self.sends(evolve(answer, pieces=(kept, self.written_error(message))))

    def ends_early(self, delta: str) -> None:
        """See ``ProviderCase``."""
        self.sends(self.written_without_end([Says((delta,))]))

    def sends(self, answer: Answer) -> None:
        """See ``ProviderCase``."""
        self.server.answers(answer)

    def recorded(self, *blocks: Block) -> Answer:
        """See ``ProviderCase``."""
        return self.written(blocks)

    def unreachable(self) -> Model:
        """See ``ProviderCase``."""
        return evolve(self.model, base_url=self.model.base_url.replace(self.server.url, closed_url()))

    def _behind(self, delta: str) -> int:
        """Return the offset after the event of this text, in an answer that begins with it."""
        body = self.recorded(Says((delta, " and more"))).body
        return body.index(self.event_end, body.index(delta.encode())) + len(self.event_end)
