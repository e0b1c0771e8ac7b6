"""What a provider's tests give to the contract suite: the provider, and how its API says what a test wants said."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from attrs import evolve, frozen

from pi_hookspecs import StreamOptions
from pi_testing._contract_needs import needs, needs_of
from pi_testing._patience import soon
from pi_testing.fake_servers import closed_url, silence

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
    "needs_of",
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
"""What a test of the suite may need:

- ``thinking``, ``tools``, ``images``: the API knows them.
- ``usage``: it counts tokens, and the case's model has prices; ``cached_usage``: those that came from a cache, apart.
- ``broken_arguments``: it sends arguments as text, so that they can be no JSON.
- ``length``: an answer can end because it was too long.
- ``requests``: ``sent()`` is the body of the request.
- ``replay``: the conversation is made to fit the API.
- ``hooks``: ``on_payload`` and ``on_response`` may fail.
- ``http``: the API is spoken over HTTP; ``failure_details``: status and wish to wait are kept in
  ``message.extra["requestFailure"]``.
- ``bytes``: answers are streams of bytes, which break anywhere; ``timeouts``: ``timeout_ms`` bounds each silence;
  ``progress``: ``progress_timeout_ms`` bounds the time in which nothing comes but pings.
"""

EVERYTHING: frozenset[Feature] = frozenset(get_args(Feature))
"""What a provider supports unless its case says otherwise: ``EVERYTHING - {"images"}``."""


@frozen
class Says:
    """Text, in these deltas. None of them is empty, except where there is only that one."""

    deltas: tuple[str, ...]

    @property
    def whole(self) -> str:
        """All of it."""
        return "".join(self.deltas)


@frozen
class Thinks:
    """Thinking in these deltas, with a signature where the API has signatures."""

    deltas: tuple[str, ...]
    signature: str = "c2lnbmVk"

    @property
    def whole(self) -> str:
        """All of it."""
        return "".join(self.deltas)


@frozen
class Calls:
    """A call.

    Attributes:
        id: Its id; an API with rules of its own for ids may make another of it.
        name: The tool.
        arguments: A JSON object.
        raw: The argument text as the API sends it, where it is not that of ``arguments``.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    raw: str | None = None


Block: TypeAlias = Says | Thinks | Calls
"""A part of an answer."""


class ProviderCase(ABC):
    """A provider, and the scenarios that its API can be asked to play; each is for the next request.

    A provider that talks HTTP extends ``ServerCase`` instead, which has all of this but for the wire format.

    Attributes:
        provider: Who is tested.
        model: A model of it; it thinks, sees images and has prices, as far as the case supports that.
        api_key: Goes with every request; it must not show anywhere.
        transport: ``StreamOptions.transport`` of every request.
        supports: What applies. A test that needs more is skipped, and says which feature was missing.
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
        """Say this text, and nothing more: neither more of the block nor an end."""

    def pings(self, delta: str) -> None:
        """Say this text, and then only what keeps the connection busy (``progress``)."""
        raise self._unsupported("progress")

    @abstractmethod
    def waits(self) -> asyncio.Event:
        """Take the request and never answer; the event is set when it was taken."""

    async def left(self) -> None:  # noqa: B027 - nothing is right where there is no connection
        """Return when the client has closed the connection of the latest request."""

    def sent(self) -> Any:
        """Return the body of the latest request (``requests``)."""
        raise self._unsupported("requests")

    def refuses(self, status: int, said: str, **headers: str) -> None:
        """Answer with an error in the API's own form (``http``); ``retry_after="7"`` and the like are headers."""
        raise self._unsupported("http")

    def breaks(self, delta: str, said: str) -> None:
        """Say this text, then an error in the midst of the answer (``bytes``)."""
        raise self._unsupported("bytes")

    def ends_early(self, delta: str) -> None:
        """Say this text; the stream then ends well for HTTP, without what the API ends an answer with (``bytes``)."""
        raise self._unsupported("bytes")

    def sends(self, answer: Answer) -> None:
        """Answer with exactly this (``http``)."""
        raise self._unsupported("http")

    def recorded(self, *blocks: Block) -> Answer:
        """Return the answer that ``answers`` would give, to be cut and split (``bytes``)."""
        raise self._unsupported("bytes")

    def unreachable(self) -> Model:
        """Return the model at an address where nothing answers (``http``)."""
        raise self._unsupported("http")

    # Scenarios by name

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
    """A provider that talks to a fake server over HTTP: a subclass only knows how its API writes an answer.

    Attributes:
        server: The server that ``model.base_url`` leads to.
        event_end: What ends an event in the stream of an answer.
        ping: What a server sends in the stream to keep the connection busy.
    """

    server: FakeServer
    event_end: bytes = b"\n\n"
    ping: bytes = b": ping\n\n"

    @abstractmethod
    def written(self, blocks: Sequence[Block], *, usage: Usage | None = None, length: bool = False) -> Answer:
        """Return the answer as the API streams it, each delta in an event of its own."""

    @abstractmethod
    def written_without_end(self, blocks: Sequence[Block]) -> Answer:
        """Return it without what the API ends an answer with."""

    @abstractmethod
    def written_error(self, said: str) -> bytes:
        """Return the event by which the API tells of an error in the midst of an answer."""

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

    def refuses(self, status: int, said: str, **headers: str) -> None:
        """See ``ProviderCase``."""
        self.sends(self.server.error(status, said).with_headers(**headers))

    def breaks(self, delta: str, said: str) -> None:
        """See ``ProviderCase``."""
        answer = self.recorded(Says((delta, " and more")))
        kept = answer.body[: self._behind(delta)]
        self.sends(evolve(answer, pieces=(kept, self.written_error(said))))

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
        """Return where, in the answer that begins with this text, its event ends."""
        body = self.recorded(Says((delta, " and more"))).body
        return body.index(self.event_end, body.index(delta.encode())) + len(self.event_end)
