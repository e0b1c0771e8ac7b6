"""What core asks of a provider plugin: one method, ``stream``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen

from pi_hookspecs.values import Shown

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

    from pi_hookspecs.abort import AbortSignal
    from pi_hookspecs.messages import Message
    from pi_hookspecs.models import Model, ProviderInfo, ThinkingLevel
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_hookspecs.tools import Tool

__all__ = ["Context", "ModelDiscovery", "Provider", "StreamFunction", "StreamOptions"]


@frozen(kw_only=True, eq=False, repr=False)
class Context(Shown):
    """What a request says: the system prompt, the conversation and the tools that may be called."""

    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class StreamOptions(Shown):
    """How a request is to be made. Times are milliseconds.

    Attributes:
        signal: The run's abort; a stream that sees it ends with an ``Error`` of reason ``aborted``.
        api_key: The key or token; never in ``repr``.
        reasoning: Thinking level; None is off.
        output_schema: JSON schema of an object; the answer's text is to be such an object as JSON. A provider holds the
            model to it where its API can, and ignores it elsewhere: the system prompt asks for the same, and the caller
            checks the answer.
        thinking_budgets: Tokens per level, where the API counts budgets.
        max_retries: How often the transport makes a request again that was not answered, before the stream begins.
        max_retry_delay_ms: Longest wait that a server may ask for before the request is made again; 0 is no limit.
        timeout_ms: How long the answer may be silent, before it begins and in the midst of it; 0 is no limit.
        progress_timeout_ms: How long an answer may go on without saying anything: pings are no silence, and no
            progress; 0 is no limit, None leaves it to the transport.
        on_payload: Called with the payload before it is sent; its answer replaces the payload.
        on_response: Called with status and headers when the answer begins.
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
    max_retries: int | None = None
    max_retry_delay_ms: int | None = None
    timeout_ms: int | None = None
    progress_timeout_ms: int | None = None
    on_payload: Callable[[Any, Model], Awaitable[Any]] | None = field(default=None, repr=False)
    on_response: Callable[[int, dict[str, str]], Awaitable[None]] | None = field(default=None, repr=False)


@runtime_checkable
class Provider(Protocol):
    """Speaks one API. Returned by ``register_providers``; it may be a ``ModelDiscovery``, too."""

    api: str
    """The API id that this provider answers for, for example ``anthropic-messages``."""

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the answer as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose
        message keeps the text received so far. Only a missing key raises (``MissingKey``).
        """
        ...


@runtime_checkable
class ModelDiscovery(Protocol):
    """What a ``Provider`` may be beside: it asks a server which models it has now.

    Asked are providers of its API that need no key and list no models: a server on the user's machine that may run
    or not. Nobody waits for them: a short time (200 ms) is given to all of them together, while models are listed and
    when a name is looked for, and never on the way to a model that is known.
    """

    async def discover(self, provider: ProviderInfo, options: StreamOptions) -> ProviderInfo:
        """Return the row with the models that the server has, or the row as it is where nothing answers.

        What the user's models.json says of the provider is laid over it.

        Args:
            provider: The row, whose ``base_url`` says whom to ask.
            options: ``api_key`` and ``headers`` as configured, ``timeout_ms`` until the answer is no longer awaited.
        """
        ...


StreamFunction: TypeAlias = "Callable[[Model, Context, StreamOptions], AsyncIterator[AssistantMessageEvent]]"
"""``Provider.stream`` as the loop takes it."""
