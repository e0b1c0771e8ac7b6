"""Calls the hooks of requests to models: their origin and purpose, their payload, and how their answer begins and ends.

The conversation has one ``RequestHooks`` for all of its requests, which follow each other; a request outside the
conversation has its own, because several may be made at once.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from attrs import evolve

from pi_hookspecs import PiError
from pi_hookspecs.deferred import define
from pi_hookspecs.specs import request as request_specs
from pi_hookspecs.values import ReprMixin

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from pi_core.base.folds import Fold
    from pi_core.conversation.plugin_scope import PluginScope
    from pi_core.hooks.dispatcher import HookDispatcher
    from pi_hookspecs import AgentSettledEvent, AssistantMessage, Context, Model, StreamOptions

    class _Warming(Protocol):
        """What keeps the prompt of the last request in its provider's cache, as the conversation calls it."""

        def forget(self) -> None: ...

        def on_answer(self, answer: AssistantMessage) -> None: ...

        def on_settled(self, event: AgentSettledEvent) -> None: ...


__all__ = ["RequestHooks", "observing"]

P = TypeVar("P", bound="Callable[..., Any]")

_CONVERSATION = "conversation"
"""The purpose of the conversation's own requests."""

_HOOKS = frozenset(
    {
        "before_model_request",
        "before_provider_request",
        "after_provider_response",
        "provider_stream_event",
        "model_usage",
    }
)


@define(eq=False, repr=False)
class _Request(ReprMixin):
    """One request.

    Attributes:
        model: The model that is asked.
        common: The fields that the events of all its hooks share.
        started: When it began, in seconds of the performance counter.
        base_url: Its address, without user name and password; empty until it is known.
        is_observed: Whether the provider was told that no plugin changes its payload.
        payload: What was sent; None before that.
    """

    model: Model
    common: dict[str, Any]
    started: float
    base_url: str = ""
    is_observed: bool = False
    payload: Any = None


class RequestHooks:
    """Calls the hooks of requests that have one origin and follow each other.

    Args:
        hooks: The session's dispatcher.
        plugins: Provides the ``ctx`` for implementations.
        purpose: What the requests are for.
        plugin: The plugin that makes them; None for the conversation.

    Attributes:
        retries: Returns how often the current request was made before.
        without_refused: Returns a request without the parts that providers refused.
        remember: Keeps a request whose prompt the provider caches for a known time, and returns its options.
        warming: Keeps such a prompt in the cache; None before the first such request.
        request_id: Id of the latest request, until its answer is complete.
        refused: Whether a plugin refused the latest request, failed to decide, or aborted the run with an exit code.
        exit_code: Exit code that the plugin chose for that; None if it chose none.
    """

    def __init__(
        self, hooks: HookDispatcher, plugins: PluginScope, purpose: str = _CONVERSATION, plugin: str | None = None
    ) -> None:
        self._hooks = hooks
        self._plugins = plugins
        self._purpose = purpose
        self._plugin = plugin
        self._request: _Request | None = None
        self._message_tokens: Fold[Any, int] | None = None
        self.retries: Callable[[], int] = int
        self.without_refused: Callable[[Model, Context], Context] = _whole
        self.remember: Callable[[Model, Context, StreamOptions], StreamOptions] = _as_it_is
        self.warming: _Warming | None = None
        self.request_id = ""
        self.refused = False
        self.exit_code: int | None = None

    async def begin(self, request_id: str, model: Model, context: Context) -> None:
        """Begin a request. If no plugin implements one of its hooks, only its id is stored.

        Raises:
            PiError: A plugin refuses the request.
        """
        self._request = None
        if self.warming is not None:
            self.warming.forget()  # a refresh in progress must not use the budget of this request
        if not self._hooks.implemented.isdisjoint(_HOOKS):
            common = {
                "request_id": request_id,
                "purpose": self._purpose,
                "plugin": self._plugin,
                "attempt": self.retries() + 1,
            }
            if "before_model_request" in self._hooks.implemented:
                await self._ask(common, model, context)
            self._request = _Request(model, common, perf_counter())
        self.request_id = request_id

    async def _ask(self, common: dict[str, Any], model: Model, context: Context) -> None:
        """Call ``before_model_request``."""
        from pi_core.conversation.event_copies import LazyCopies
        from pi_core.models.token_estimate import estimate_request_tokens, message_tokens
        from pi_hookspecs import BeforeModelRequestEvent

        if self._message_tokens is None:
            self._message_tokens = message_tokens()
        messages = self._message_tokens.of(context.messages)
        tokens = estimate_request_tokens(context.system_prompt, context.tools, messages)
        event = BeforeModelRequestEvent(
            model=model,
            estimated_tokens=tokens,
            system_prompt=context.system_prompt,
            messages=LazyCopies(context.messages),
            **common,
        )
        self.refused, self.exit_code = True, None  # a guard that raises also refuses
        answer = await self._hooks.call(request_specs.before_model_request, event, self._plugins.ctx)
        if answer is not None and answer.block:
            self.refuse(answer.reason, answer.exit_code)
        self.refused = False

    def stop(self, exit_code: int) -> None:
        """Record that a plugin aborts the run: nothing is repeated, and the exit code is the plugin's."""
        self.refused, self.exit_code = True, exit_code

    def refuse(self, reason: str | None, exit_code: int | None) -> NoReturn:
        """Refuse the request that is being prepared.

        Raises:
            PiError: Always, with the reason.
        """
        self.refused, self.exit_code = True, exit_code
        raise PiError(reason or "A plugin refused this request")

    def bind(self, model: Model, options: StreamOptions) -> StreamOptions:
        """Return the options of the current request with callbacks that call its hooks."""
        request = self._request
        if request is None:
            return options
        request.base_url = _without_user(model.base_url)
        headers = dict(options.headers or {})
        request.is_observed = self._only_observe()
        on_payload = partial(self._on_payload, request, headers)
        reads_stream = "provider_stream_event" in self._hooks.implemented
        return evolve(
            options,
            headers=headers,
            on_payload=observing(on_payload) if request.is_observed else on_payload,
            on_response=partial(self._on_response, request),
            on_stream_event=partial(self._on_stream_event, request) if reads_stream else None,
        )

    def _only_observe(self) -> bool:
        """Whether no plugin may change payloads."""
        return all(each.observes for each in self._hooks.implementations("before_provider_request"))

    def sending(self, payload: Any, change: Callable[[Any, Model], Any] | None) -> Callable[[Any, Model], Any]:
        """Return a callback that lets plugins see a payload and add headers, and then sends another payload."""

        async def replace(built: Any, model: Model) -> Any:
            if change is not None:
                await change(built, model)
            if self._request is not None:
                self._request.payload = payload
            return payload

        return observing(replace, change)

    async def end(self, answer: AssistantMessage) -> None:
        """Call ``model_usage`` with the answer of the current request, which may have failed."""
        request, self._request = self._request, None
        if request is None or "model_usage" not in self._hooks.implemented:
            return
        from pi_core.session.copies import copy_message
        from pi_hookspecs import ModelUsageEvent

        failed = answer.stop_reason in ("error", "aborted")
        event = ModelUsageEvent(
            model=request.model,
            usage=answer.usage,
            duration_ms=round((perf_counter() - request.started) * 1000),
            error=(answer.error_message or answer.stop_reason) if failed else None,
            payload=request.payload,
            answer=copy_message(answer),
            **request.common,
        )
        await self._hooks.notify(event, self._plugins.ctx)

    async def _on_payload(self, request: _Request, headers: dict[str, str], payload: Any, model: Model) -> Any:
        """Call ``before_provider_request``, add its headers, and return the payload to send."""
        request.payload = payload
        if "before_provider_request" not in self._hooks.implemented:
            return payload
        if request.is_observed and not self._only_observe():  # a plugin has come since then
            from pi_core.session.copies import copy_data

            payload = copy_data(payload)
        from pi_hookspecs import BeforeProviderRequestEvent

        event = BeforeProviderRequestEvent(payload=payload, model=model, base_url=request.base_url, **request.common)
        answer = await self._hooks.call(request_specs.before_provider_request, event, self._plugins.ctx)
        _add_headers(headers, event.headers)
        request.payload = payload if answer is None else answer
        return request.payload

    async def _on_response(self, request: _Request, status: int, headers: dict[str, str]) -> None:
        """Call ``after_provider_response``."""
        if "after_provider_response" in self._hooks.implemented:
            from pi_hookspecs import AfterProviderResponseEvent

            event = AfterProviderResponseEvent(
                status=status, headers=dict(headers), base_url=request.base_url, **request.common
            )
            await self._hooks.notify(event, self._plugins.ctx)

    async def _on_stream_event(self, request: _Request, data: Any) -> None:
        """Call ``provider_stream_event``."""
        from pi_hookspecs import ProviderStreamEvent

        model = request.model
        event = ProviderStreamEvent(
            provider=model.provider,
            api=model.api,
            model=model.id,
            data=data,
            request_id=request.common["request_id"],
        )
        await self._hooks.notify(event, self._plugins.ctx)


def observing(on_payload: P, inner: Callable[..., Any] | None = None) -> P:
    """Return a callback of ``StreamOptions``, marked as one that changes no payload unless the inner one does.

    Providers then need not look for changes in what they have encoded before.
    """
    if inner is None or getattr(inner, "pi_observe", False):
        on_payload.pi_observe = True  # type: ignore[attr-defined]
    return on_payload


def _whole(_model: Model, context: Context) -> Context:
    """Return a request of which nothing is left out."""
    return context


def _as_it_is(_model: Model, _context: Context, options: StreamOptions) -> StreamOptions:
    """Return the options of a request that is not kept."""
    return options


def _add_headers(headers: dict[str, str], added: dict[Any, Any]) -> None:
    """Add headers in place; each replaces a header whose name differs only in case, and None removes it.

    Raises:
        PiError: A name or a value is not text.
    """
    for name, value in added.items():
        if not isinstance(name, str) or not isinstance(value, str | None):
            raise PiError(
                f"A plugin added the HTTP header {name!r} in before_provider_request, and its value is of type"
                f" {type(value).__name__}. Name and value must be strings; None removes a header."
            )
        for known in [each for each in headers if each.lower() == name.lower()]:
            del headers[known]
        if value is not None:
            headers[name] = value


def _without_user(base_url: str) -> str:
    """Return an address without the user name and the password in it."""
    scheme, separator, rest = base_url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
