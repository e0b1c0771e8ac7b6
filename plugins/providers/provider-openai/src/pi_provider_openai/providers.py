"""The APIs behind the provider contract: four for conversations, two for images, and a classifier."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pi_provider_kit import Http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs.models import Model, ProviderInfo
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_kit import AnswerReader
    from pi_provider_openai.exchange import Call

__all__ = [
    "AzureResponses",
    "CodexResponses",
    "Completions",
    "Images",
    "Moderations",
    "OpenRouterImages",
    "Responses",
]

# The codecs are imported by ``stream``: registering must cost nothing (orjson, attrs classes, tables).


class _OpenAI:
    """Base class of all."""

    def __init__(self, http: Http | None = None) -> None:
        self._http = http or Http()  # costs nothing until the first request


class Completions(_OpenAI):
    """Implements the API id ``openai-completions``: Chat Completions of OpenAI and of all compatible hosts."""

    api = "openai-completions"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``."""
        from pi_provider_openai.completions_compat import compat_of
        from pi_provider_openai.completions_request import completions_headers, completions_payload
        from pi_provider_openai.exchange import Call, answered

        compat = compat_of(model)

        def prepare() -> Call:
            return Call(
                base_url=model.base_url,
                path="/chat/completions",
                payload=completions_payload(model, context, options, compat),
                headers=completions_headers(model, context, options, compat),
                key=options.api_key,
            )

        def reader() -> AnswerReader[bytes]:
            from pi_provider_kit import SentTools
            from pi_provider_openai.completions_events import CompletionsFeeder

            sent = SentTools(context.tools, model)
            feeder = CompletionsFeeder(
                model,
                needs_finish_reason=bool(compat["supportsFinishReason"]),
                tools=tuple(sent),
            )
            feeder.builder.tools = sent
            return feeder

        return answered(self._http, prepare, reader, model, options)

    async def discover(self, provider: ProviderInfo, options: StreamOptions) -> ProviderInfo:
        """See ``ModelDiscovery.discover``."""
        from pi_provider_openai.local import with_models

        return await with_models(self._http, provider, options)


class Responses(_OpenAI):
    """Implements the API id ``openai-responses``: nothing is stored, reasoning is sent back encrypted."""

    api = "openai-responses"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``."""
        from pi_provider_openai.exchange import Call, answered
        from pi_provider_openai.responses_request import responses_compat, responses_headers, responses_payload

        compat = responses_compat(model)

        def prepare() -> Call:
            return Call(
                base_url=model.base_url,
                path="/responses",
                payload=responses_payload(model, context, options, compat),
                headers=responses_headers(model, context, options, compat),
                key=options.api_key,
                error_text=_named_error(model),
            )

        return answered(self._http, prepare, partial(_responses_reader, model, context), model, options)


class AzureResponses(_OpenAI):
    """Implements the API id ``azure-openai-responses``: Responses of a deployment, with a key or an Entra token."""

    api = "azure-openai-responses"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``.

        Raises:
            MissingKey: There is neither a key nor a token, and the SDK is not to look for one.
        """
        from pi_hookspecs.errors import MissingKey
        from pi_provider_kit import wants_sdk
        from pi_provider_openai.azure import azure_config, azure_payload
        from pi_provider_openai.exchange import Call, answered

        if not options.api_key and not wants_sdk(model, options):
            message = f"No API key for provider: {model.provider}. Set AZURE_OPENAI_API_KEY, or sign in to Entra."
            raise MissingKey(message)

        def prepare() -> Call:
            config = azure_config(model, own=options.env)
            return Call(
                base_url=config.base_url,
                path="/responses",
                payload=azure_payload(model, context, options, config.deployment),
                headers=dict(model.headers or {}),
                key=options.api_key,
                azure_version=config.api_version,
                error_text=_named_error(model),
            )

        return answered(self._http, prepare, partial(_responses_reader, model, context), model, options)


class CodexResponses(_OpenAI):
    """Implements the API id ``openai-codex-responses``: the backend of ChatGPT plans, over server-sent events."""

    api = "openai-codex-responses"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``.

        Raises:
            MissingKey: There is no login.
        """
        from pi_hookspecs.errors import MissingKey
        from pi_provider_openai.codex import codex_base_url, codex_headers, codex_limit, codex_payload
        from pi_provider_openai.exchange import Call, answered

        token = options.api_key
        if not token:
            message = f"No API key for provider: {model.provider}. Run pi auth login {model.provider}."
            raise MissingKey(message)

        def prepare() -> Call:
            return Call(
                base_url=codex_base_url(model.base_url),
                path="/responses",
                payload=codex_payload(model, context, options),
                headers=codex_headers(model, options, token),
                key=token,
                error_text=_named_error(model),
            )

        reader = partial(_responses_reader, model, context, prefix="Codex error: ")
        return answered(self._http, prepare, reader, model, options, explain=codex_limit)


class Images(_OpenAI):
    """Implements the API id ``openai-images``: OpenAI's images API, and hosts that are compatible with it."""

    api = "openai-images"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``; the answer is not streamed."""
        from pi_provider_kit import answer_whole
        from pi_provider_openai.images import add_images, openai_images_request

        return answer_whole(
            self._http, partial(openai_images_request, model, context, options), add_images, model, options
        )


class OpenRouterImages(_OpenAI):
    """Implements the API id ``openrouter-images``: the images API of OpenRouter."""

    api = "openrouter-images"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``; the answer is not streamed."""
        from pi_provider_kit import answer_whole
        from pi_provider_openai.images import add_images, openrouter_images_request

        return answer_whole(
            self._http, partial(openrouter_images_request, model, context, options), add_images, model, options
        )


class Moderations(_OpenAI):
    """Implements the API id ``openai-moderations``: a classifier."""

    api = "openai-moderations"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``; the answer's text is a JSON object with a score by label."""
        from pi_provider_kit import answer_whole
        from pi_provider_openai.moderations import add_scores, moderations_request

        return answer_whole(
            self._http, partial(moderations_request, model, context, options), add_scores, model, options
        )


def _responses_reader(model: Model, context: Context, **settings: str) -> AnswerReader[bytes]:
    from pi_provider_kit import SentTools
    from pi_provider_openai.responses_events import ResponsesFeeder

    sent = SentTools(context.tools, model)
    feeder = ResponsesFeeder(model, tools=[tool.name for tool in sent], **settings)
    feeder.builder.tools = sent
    return feeder


def _named_error(model: Model) -> str:
    """Return the error template of Responses: ``<provider> API error (<status>): <body>``."""
    provider = model.provider.replace("{", "{{").replace("}", "}}")
    return f"{provider} API error ({{status}}): {{body}}"
