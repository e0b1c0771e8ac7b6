"""The protocol of provider plugins: one method, ``stream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from pi_hookspecs.deferred import field, frozen
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model, ProviderInfo, ThinkingLevel
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.tools import Tool

__all__ = ["Context", "ModelDiscovery", "Provider", "StreamFunction", "StreamOptions"]


@frozen(kw_only=True, eq=False, repr=False)
class Context(ReprMixin):
    """Content of a request: the system prompt, the conversation and the active tools."""

    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class StreamOptions(ReprMixin):
    """Options of a request. Times are milliseconds.

    Attributes:
        signal: The run's abort signal; a stream that sees it ends with an ``Error`` of reason ``aborted``.
        api_key: The key or token; never in ``repr``.
        env: Variables of the stored key (``env`` in auth.json), which a provider reads before those of the environment.
        reasoning: Thinking level; None is off.
        output_schema: JSON schema of the object that the answer's text must contain, as JSON. A provider enforces
            it if its API can and ignores it otherwise: the system prompt asks for the same, and the caller
            validates the answer.
        thinking_budgets: Tokens per level, where the API counts budgets.
        max_retries: How often the transport retries a request that got no answer, before the stream begins.
        max_retry_delay_ms: Longest retry delay that a server may request; 0 means no limit.
        timeout_ms: Longest silence before and during the answer; 0 means no limit.
        progress_timeout_ms: Longest time without new content; unlike ``timeout_ms`` it is not reset by pings. 0 is no
            limit, None leaves it to the transport.
        continues: Whether the server may continue the conversation from the answer; False for a request outside the
            conversation, such as one that keeps its prompt in the cache.
        image_options: What an image model is asked for: ``count`` of images, and ``size``, ``aspect_ratio``,
            ``quality``, ``background`` and ``format`` in the words of its API.
        on_payload: Called with the payload before it is sent; its return value replaces the payload. It may also change
            the payload in place, unless it has an attribute ``pi_observe`` that is true: then a provider may send what
            it has encoded before without a comparison.
        on_response: Called with status and headers when the answer begins.
        on_stream_event: Called with each event of the stream, parsed, before it is read. Since: 1.2.
    """

    signal: AbortSignal | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: dict[str, str] | None = field(default=None, repr=False)
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning: ThinkingLevel | None = None
    thinking_budgets: dict[str, int] | None = None
    cache_retention: Literal["none", "short", "long"] | None = None
    session_id: str | None = None
    transport: str | None = None
    tool_choice: Any = None
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    metadata: dict[str, Any] | None = None
    continues: bool = True
    image_options: Mapping[str, Any] | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)
    max_retries: int | None = None
    max_retry_delay_ms: int | None = None
    timeout_ms: int | None = None
    progress_timeout_ms: int | None = None
    on_payload: Callable[[Any, Model], Awaitable[Any]] | None = field(default=None, repr=False)
    on_response: Callable[[int, dict[str, str]], Awaitable[None]] | None = field(default=None, repr=False)
    on_stream_event: Callable[[Any], Awaitable[None]] | None = field(default=None, repr=False)


@runtime_checkable
class Provider(Protocol):
    """Implements one API. Returned by ``register_providers``; it may also be a ``ModelDiscovery``."""

    api: str
    """The API id that this provider implements, for example ``anthropic-messages``."""

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the answer as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose
        message keeps the text received so far. Only a missing key raises (``MissingKey``).
        """
        ...


@runtime_checkable
class ModelDiscovery(Protocol):
    """Optional protocol of a ``Provider``: asks a server which models it has now.

    It is used for providers of its API that need no key and list no models, such as a server on the user's machine
    that may not be running. All of them together have 200 ms to answer. They are asked only when models are listed
    or an unknown name is looked up, never for a known model.
    """

    async def discover(self, provider: ProviderInfo, options: StreamOptions) -> ProviderInfo:
        """Return the provider with the server's models, or unchanged where no server answers.

        The user's models.json is merged over it.

        Args:
            provider: The provider; its ``base_url`` is the server's address.
            options: ``api_key`` and ``headers`` as configured, and the deadline as ``timeout_ms``.
        """
        ...


StreamFunction: TypeAlias = "Callable[[Model, Context, StreamOptions], AsyncIterator[AssistantMessageEvent]]"
"""Type of ``Provider.stream`` as the agent loop calls it."""
