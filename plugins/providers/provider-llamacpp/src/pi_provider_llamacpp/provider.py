"""The API id ``llamacpp-embedded`` behind the provider contract, and the models on this disk behind discovery."""

from __future__ import annotations

from contextlib import aclosing
from functools import cache
from typing import TYPE_CHECKING, Any

from pi_provider_llamacpp.names import API, PROVIDER_ID

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from pi_hookspecs.models import Model, ProviderInfo
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_llamacpp.finding import Found
    from pi_provider_llamacpp.loaded import LoadedModels
    from pi_provider_llamacpp.reading import Reading

__all__ = ["LlamaCpp", "provider_row"]


class LlamaCpp:
    """Implements the API id ``llamacpp-embedded``.

    Args:
        loaded: The models in memory, for tests and programs; None for those of the running event loop.
        agent_dir: The user's folder of pi; None for the usual one.
    """

    api = API

    def __init__(self, loaded: LoadedModels | None = None, agent_dir: Path | None = None) -> None:
        self._loaded = loaded
        self._agent_dir = agent_dir

    async def discover(self, provider: ProviderInfo, options: StreamOptions) -> ProviderInfo:
        """Return the provider with the models on this disk; headers are read as far as the time suffices."""
        import asyncio

        from attrs import evolve

        from pi_provider_llamacpp.catalog import list_models, to_model

        settings = self._options()
        seconds = (options.timeout_ms or 0) / 2000 or None  # half of the time; the other half is for finding files
        listed = await asyncio.to_thread(list_models, settings, self._folder(), seconds=seconds)
        models = tuple(to_model(each, settings) for each in listed if not each.problem)
        return evolve(provider, models=models)

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """Yield the message as it grows, then exactly one ``Done`` or ``Error``.

        A failed request is an answer, not an exception: it ends the stream with an ``Error`` whose message keeps the
        text received so far.
        """
        from pi_provider_kit import AnswerBuilder, SentTools, read_answer
        from pi_provider_llamacpp.reading import Reading

        @cache
        def reader() -> Reading:
            return Reading(AnswerBuilder(model, SentTools(context.tools, model)))

        return read_answer(self._chunks(model, context, options), reader, options)

    async def _chunks(self, model: Model, context: Context, options: StreamOptions) -> AsyncGenerator[dict[str, Any]]:
        """Load the model where that is needed, make the request, and yield the chunks of its answer."""
        from pi_provider_kit import AbortWatch, final_payload
        from pi_provider_llamacpp.loaded import loaded_models
        from pi_provider_llamacpp.messages import to_payload

        payload = await final_payload(to_payload(model, context, options), model, options)
        loaded = loaded_models() if self._loaded is None else self._loaded
        loaded.idle_seconds = self._options().idle_seconds
        with AbortWatch(options.signal) as watch:
            watch.raise_if_aborted()
            found = await watch(self._found(model))
            process = await watch(loaded.process(found, model.context_window))
            if options.on_response is not None:
                await watch(options.on_response(200, {}))
            async with aclosing(process.ask(payload)) as chunks:
                try:
                    while (chunk := await watch(anext(chunks, None))) is not None:
                        watch.raise_if_aborted()
                        if "prompt_progress" not in chunk:  # else the time for new content would begin with it
                            yield chunk
                finally:
                    loaded.rest(process)

    async def _found(self, model: Model) -> Found:
        """Return the file of a model: that which it was listed with, or one of its name.

        Raises:
            UserError: There is none.
        """
        import asyncio

        from pi_provider_llamacpp.catalog import list_models, named
        from pi_provider_llamacpp.finding import model_at

        path = (model.compat or {}).get("path")
        if isinstance(path, str):
            return await asyncio.to_thread(model_at, path, model.id)
        listed = await asyncio.to_thread(list_models, self._options(), self._folder())
        return named(model.id, listed).found

    def _options(self) -> Any:
        from pi_core import Settings
        from pi_provider_llamacpp.options import read_options

        return read_options(Settings.load(agent_dir=self._agent_dir, trust=False))

    def _folder(self) -> Path:
        from pi_core import agent_dir

        return self._agent_dir or agent_dir()


def provider_row() -> ProviderInfo:
    """Return the provider without its models, which are looked for when they are asked for."""
    from pi_hookspecs.models import ProviderInfo

    return ProviderInfo(id=PROVIDER_ID, name="llama.cpp inside pi", api=API, keyless=True)
