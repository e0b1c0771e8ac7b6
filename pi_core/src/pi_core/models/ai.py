"""The model layer alone: models, keys and streams, without an agent, session or tools.

``ModelLayer`` does the work. The functions call its methods for programs that do not keep an instance: each takes a
``ModelLayer`` or a ``PluginHost`` as ``host``; None creates a temporary layer of the installed plugins.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from attrs import evolve

from pi_core.agent.stream import closing
from pi_core.models.patterns import ModelMatch
from pi_core.models.registry import ModelRegistry
from pi_hookspecs import Context, MessageBuilder, MissingKey, StreamOptions, UserError, UserMessage

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from pi_core.host import PluginHost
    from pi_core.models.other_requests import OtherRequests
    from pi_hookspecs import (
        AssistantMessage,
        AssistantMessageEvent,
        Classification,
        GeneratedImages,
        ImageContent,
        Model,
        Provider,
        SideRequest,
    )

__all__ = [
    "ModelLayer",
    "classify",
    "complete",
    "generate_image",
    "get_model",
    "get_models",
    "get_providers",
    "register_api_provider",
    "stream",
    "stream_simple",
]


class ModelLayer:
    """Looks up models and streams their answers.

    A model is a ``Model`` or its name in the syntax of ``--model`` (``ModelRegistry.match``); a context is a
    ``Context`` or the text of a prompt.

    Args:
        host: The plugins; None uses the installed plugins.
        registry: Models and keys; None builds a registry from the host, models.json and auth.json.
        environ: Environment variables, read for keys; None uses the environment of the process.
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
        """Return the ids of all providers: the plugins' ids, sorted, then the ids in models.json in the file's order.

        Providers that were added at run time come last.
        """
        return self.models.get_providers()

    def get_models(self, provider: str | None = None) -> list[Model]:
        """Return the models of a provider, or of all providers if None; an empty list for an unknown provider."""
        return self.models.get_models(provider)

    def get_model(self, provider: str, model_id: str) -> Model | None:
        """Return a provider's model; None if it has no such model."""
        return self.models.get_model(provider, model_id)

    def register_api_provider(self, provider: Provider) -> Callable[[], None]:
        """Use a provider for its API id, in preference to plugins' providers; return a function that unregisters it."""
        return self.models.register_api(provider.api, provider.stream)

    async def stream(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """Yield a model's answer as it grows, then exactly one ``Done`` or ``Error``.

        The key, configured headers and default settings are added to ``options``.

        Raises:
            MissingKey: The provider needs a key and has none. All other failures yield an ``Error``.
            UnknownName: The model is unknown.
            NoModel: No plugin implements the model's API.
        """
        model = (await self._resolve(model)).model
        answer = self.models.stream_of(model)
        try:
            model, options = await self.models.prepare(model, options or StreamOptions())
        except MissingKey:
            raise
        except UserError as error:
            yield MessageBuilder(model).fail(error)
            return
        async with closing(answer(model, _context(context), options)) as events:
            async for event in events:
                yield event

    async def stream_simple(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AsyncGenerator[AssistantMessageEvent, None]:
        """As ``stream``, with the thinking level clamped to the nearest that the model has.

        A ``:level`` suffix of the model's name is used when ``options`` have no level.
        """
        model, level = await self._resolve(model)
        options = options or StreamOptions()
        requested = options.reasoning or level
        if requested is not None:
            from pi_core.models.thinking import clamp_thinking_level

            level = clamp_thinking_level(model, requested)
            options = evolve(options, reasoning=None if level == "off" else level)
        async with aclosing(self.stream(model, context, options)) as events:
            async for event in events:
                yield event

    async def complete(
        self, model: Model | str, context: Context | str, options: StreamOptions | None = None
    ) -> AssistantMessage:
        """Return a model's complete answer; a failure is reported in its ``stop_reason`` and ``error_message``.

        Raises the same errors as ``stream``.
        """
        resolved = await self._resolve(model)
        if resolved.thinking_level is not None:
            options = options or StreamOptions()
            options = evolve(options, reasoning=options.reasoning or resolved.thinking_level)
        async with aclosing(self.stream_simple(resolved.model, context, options)) as events:
            async for event in events:
                if event.type == "done":
                    return event.message
                if event.type == "error":
                    return event.error
        return MessageBuilder(resolved.model).fail("The provider ended its stream without 'done' or 'error'").error

    async def generate_image(
        self,
        model: Model | str,
        prompt: str,
        *,
        images: Sequence[ImageContent] = (),
        options: Mapping[str, Any] | None = None,
    ) -> GeneratedImages:
        """Return what an image model draws; arguments and errors are those of ``ModelCatalog.generate_image``."""
        return await self._others().generate_image(model, prompt, images=images, options=options)

    async def classify(self, model: Model | str, text: str, labels: Sequence[str]) -> Classification:
        """Return how well labels fit a text; arguments and errors are those of ``ModelCatalog.classify``."""
        return await self._others().classify(model, text, labels)

    def _others(self) -> OtherRequests:
        from pi_core.models.other_requests import OtherRequests

        async def ask(context: Context, request: SideRequest) -> AssistantMessage:
            assert request.model is not None  # noqa: S101 - it is in every request
            return await self.complete(request.model, context, StreamOptions(image_options=request.image_options))

        return OtherRequests(self.models, ask)

    async def _resolve(self, model: Model | str) -> ModelMatch:
        return await self.models.resolve(model) if isinstance(model, str) else ModelMatch(model)


def get_providers(*, host: ModelLayer | PluginHost | None = None) -> list[str]:
    """Return the ids of all providers."""
    return _layer(host).get_providers()


def get_models(provider: str | None = None, *, host: ModelLayer | PluginHost | None = None) -> list[Model]:
    """Return the models of a provider, or of all providers if None; an empty list for an unknown provider."""
    return _layer(host).get_models(provider)


def get_model(provider: str, model_id: str, *, host: ModelLayer | PluginHost | None = None) -> Model | None:
    """Return a provider's model; None if it has no such model."""
    return _layer(host).get_model(provider, model_id)


def register_api_provider(provider: Provider, *, host: ModelLayer | PluginHost | None = None) -> ModelLayer:
    """Return a model layer that uses a provider for its API id; pass it to the other functions as ``host``."""
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
    """Yield a model's answer as it grows, then exactly one ``Done`` or ``Error``; errors: see ``ModelLayer``."""
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
    """Return a model's complete answer; a failure is reported in its ``stop_reason`` and ``error_message``."""
    return await _layer(host).complete(model, context, options)


async def generate_image(
    model: Model | str,
    prompt: str,
    *,
    images: Sequence[ImageContent] = (),
    options: Mapping[str, Any] | None = None,
    host: ModelLayer | PluginHost | None = None,
) -> GeneratedImages:
    """Return what an image model draws; errors: see ``ModelCatalog.generate_image``."""
    return await _layer(host).generate_image(model, prompt, images=images, options=options)


async def classify(
    model: Model | str, text: str, labels: Sequence[str], *, host: ModelLayer | PluginHost | None = None
) -> Classification:
    """Return how well labels fit a text; errors: see ``ModelCatalog.classify``."""
    return await _layer(host).classify(model, text, labels)


def _layer(host: ModelLayer | PluginHost | None) -> ModelLayer:
    return host if isinstance(host, ModelLayer) else ModelLayer(host)


def _context(context: Context | str) -> Context:
    return Context(messages=(UserMessage(content=context),)) if isinstance(context, str) else context
