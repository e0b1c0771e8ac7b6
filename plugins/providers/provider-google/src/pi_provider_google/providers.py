"""The APIs behind the provider contract: three for conversations, one for images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pi_provider_kit import Http

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pi_hookspecs.models import Model
    from pi_hookspecs.provider import Context, StreamOptions
    from pi_hookspecs.stream import AssistantMessageEvent
    from pi_provider_google.exchange import Call

__all__ = ["CodeAssist", "GenerativeAI", "GenerativeImages", "Vertex"]

# The codec is imported by ``stream``: registering must cost nothing (orjson, attrs classes, tables).


class _Google:
    """Base class of all."""

    def __init__(self, http: Http | None = None) -> None:
        self._http = http or Http()  # costs nothing until the first request


class GenerativeAI(_Google):
    """Implements the API id ``google-generative-ai``: the Gemini API, and hosts that speak it."""

    api = "google-generative-ai"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``."""
        from pi_provider_google.exchange import Call, answered
        from pi_provider_google.gemini import BASE_URL, model_path
        from pi_provider_google.payload import to_payload
        from pi_provider_kit import host_headers

        async def prepare() -> Call:
            key = options.api_key
            return Call(
                bases=(model.base_url or BASE_URL,),
                path=f"{model_path(model.id)}:streamGenerateContent?alt=sse",
                payload=to_payload(model, context, options),
                headers={
                    **host_headers(model, context.messages, options),
                    **(model.headers or {}),
                    **({"x-goog-api-key": key} if key else {}),
                },
                sdk={"vertexai": False, "api_key": key},
            )

        return answered(self._http, prepare, model, context, options)


class GenerativeImages(_Google):
    """Implements the API id ``google-images``: image models of the Gemini API."""

    api = "google-images"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``; the answer is not streamed."""
        from functools import partial

        from pi_provider_google.images import add_images, images_request
        from pi_provider_kit import answer_whole

        return answer_whole(self._http, partial(images_request, model, context, options), add_images, model, options)


class Vertex(_Google):
    """Implements the API id ``google-vertex``: Vertex AI with a key, or the machine's credentials."""

    api = "google-vertex"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``."""
        from pi_provider_google.exchange import answered
        from pi_provider_google.payload import to_payload
        from pi_provider_google.vertex import vertex_call

        async def prepare() -> Call:
            return await vertex_call(model, to_payload(model, context, options), options)

        return answered(self._http, prepare, model, context, options)


class CodeAssist(_Google):
    """Implements the API id ``google-gemini-cli``: Cloud Code Assist, for logins of Gemini CLI and Antigravity."""

    api = "google-gemini-cli"

    def stream(self, model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        """See ``Provider.stream``.

        Raises:
            MissingKey: There is no login.
        """
        from pi_hookspecs.errors import MissingKey
        from pi_provider_google.code_assist import code_assist_call
        from pi_provider_google.exchange import answered
        from pi_provider_google.payload import to_payload

        key = options.api_key
        if not key:
            message = f"No API key for provider: {model.provider}. Log in first: pi auth login {model.provider}"
            raise MissingKey(message)

        async def prepare() -> Call:
            return code_assist_call(model, to_payload(model, context, options), options, key)

        return answered(self._http, prepare, model, context, options)
