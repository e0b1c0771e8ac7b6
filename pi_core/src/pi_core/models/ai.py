"""The model layer alone: models, keys and streams, with no agent, session or tool around them.

``ModelLayer`` does the work. The functions are its methods for a program that needs no object of its own: each takes
a ``ModelLayer`` or a ``PluginHost`` as ``host``, and makes a short-lived one of what is installed when it gets none.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.models.patterns import ModelMatch
from pi_core.models.registry import ModelRegistry
from pi_hookspecs import Context, MessageBuilder, MissingKey, StreamOptions, UserError, UserMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from pi_core.host import PluginHost
    from pi_hookspecs import AssistantMessage, AssistantMessageEvent, Model, Provider

__all__ = [
    "ModelLayer",
    "complete",
    "get_model",
    "get_models",
    "get_providers",
    "register_api_provider",
    "stream",
    "stream_simple",
]


class ModelLayer:
    """Models and their answers.

    A model is a ``Model`` or its name, as ``--model`` takes it (``ModelRegistry.match``); a context a ``Context`` or a
    prompt.

    Args:
        host: The plugins; the installed ones when None.
        registry: Models and keys; made of the host, models.json and auth.json when None.
        environ: Where keys are looked up; the process's environment when None.
    """

    def __init__(
        self,
        host: PluginHost | None = None,
        *,
        registry: ModelRegistry | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.models = registry or ModelRegistry.create(host=host, environ=environ)

    def get_providers(self) -> list[str]:
        """Return the ids of all providers."""
        return self.models.get_providers()

    def get_models(self, provider: str | None = None) -> list[Model]:
        """Return a provider's models, or all; an empty list for a provider that nobody knows."""
        return self.models.get_models(provider)

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None where there is none."""
        return self.models.get_model(provider, model_id)

    def register_api_provider(self, provider: Provider) -> Callable[[], None]:
        """Let a provider answer for its API id, before all plugins; returns how to take that back."""
        return self.models.register_api(provider.api, provider.stream)

    async def stream(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Yield a model's answer as it grows, then exactly one ``Done`` or ``Error``.

        The key, configured headers and defaults are added to what ``options`` say.

        Raises:
            MissingKey: The provider needs a key and has none. All other failures are an ``Error``.
            UnknownName: Nobody knows the model or speaks its API.
        """
        model = (await self._meant(model)).model
        answer = self.models.stream_of(model)
        try:
            model, options = await self.models.prepare(model, options or StreamOptions())
        except MissingKey:
            raise
        except UserError as error:
            yield MessageBuilder(model).fail(error)
            return
        events = answer(model, _context(context), options)
        try:
            async for event in events:
                yield event
        finally:
            close: Any = getattr(events, "aclose", None)
            if close is not None:
                await close()

    async def stream_simple(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """As ``stream``, with the thinking level clamped to the nearest that the model has.

        A level behind the model's name counts where ``options`` have none.
        """
        model, level = await self._meant(model)
        options = options or StreamOptions()
        asked = options.reasoning or level
        if asked is not None:
            from pi_core.models.thinking import clamp_thinking_level

            level = clamp_thinking_level(model, asked)
            options = evolve(options, reasoning=None if level == "off" else level)
        async with aclosing(self.stream(model, context, options)) as events:
            async for event in events:
                yield event

    async def complete(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AssistantMessage:
        """Return a model's whole answer; one that failed says so in ``stop_reason`` and ``error_message``.

        Raises as ``stream`` does.
        """
        meant = await self._meant(model)
        if meant.thinking_level is not None:
            options = options or StreamOptions()
            options = evolve(options, reasoning=options.reasoning or meant.thinking_level)
        async with aclosing(self.stream_simple(meant.model, context, options)) as events:
            async for event in events:
                if event.type == "done":
                    return event.message
                if event.type == "error":
                    return event.error
        return MessageBuilder(meant.model).fail("The provider ended its stream without 'done' or 'error'").error

    async def _meant(self, model: Model | str) -> ModelMatch:
        return await self.models.resolve(model) if isinstance(model, str) else ModelMatch(model)


def get_providers(*, host: ModelLayer | PluginHost | None = None) -> list[str]:
    """Return the ids of all providers."""
    return _layer(host).get_providers()


def get_models(provider: str | None = None, *, host: ModelLayer | PluginHost | None = None) -> list[Model]:
    """Return a provider's models, or all; an empty list for a provider that nobody knows."""
    return _layer(host).get_models(provider)


def get_model(provider: str, model_id: str, *, host: ModelLayer | PluginHost | None = None) -> Model | None:
    """Return a provider's model; None where there is none."""
    return _layer(host).get_model(provider, model_id)


def register_api_provider(provider: Provider, *, host: ModelLayer | PluginHost | None = None) -> ModelLayer:
    """Return a model layer in which a provider answers for its API id; pass it on as ``host``."""
    layer = _layer(host)
    layer.register_api_provider(provider)
    return layer


def stream(
    model: Model | str,
    context: Context | str,
    options: StreamOptions | None = None,
    *,
    host: ModelLayer | PluginHost | None = None,
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """Yield a model's answer as it grows, then exactly one ``Done`` or ``Error``; raises as ``ModelLayer.stream``."""
    return _layer(host).stream(model, context, options)


def stream_simple(
    model: Model | str,
    context: Context | str,
    options: StreamOptions | None = None,
    *,
    host: ModelLayer | PluginHost | None = None,
) -> AsyncGenerator[AssistantMessageEvent, None]:
    """As ``stream``, with the thinking level clamped to the nearest that the model has."""
    return _layer(host).stream_simple(model, context, options)


async def complete(
    model: Model | str,
    context: Context | str,
    options: StreamOptions | None = None,
    *,
    host: ModelLayer | PluginHost | None = None,
) -> AssistantMessage:
    """Return a model's whole answer; one that failed says so in ``stop_reason`` and ``error_message``."""
    return await _layer(host).complete(model, context, options)


def _layer(host: ModelLayer | PluginHost | None) -> ModelLayer:
    return host if isinstance(host, ModelLayer) else ModelLayer(host)


def _context(context: Context | str) -> Context:
    return Context(messages=(UserMessage(content=context),)) if isinstance(context, str) else context
