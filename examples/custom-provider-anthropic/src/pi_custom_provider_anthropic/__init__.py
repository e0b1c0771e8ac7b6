"""Adds the provider `custom-anthropic`: models, key variable, and its own stream for the Messages API."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from functools import cache

from pi_custom_provider_anthropic._payload import to_payload
from pi_custom_provider_anthropic._reading import Reading
from pi_hookspecs import AssistantMessageEvent, Context, Model, PiAPI, StreamOptions, hookimpl
from pi_provider_kit import Http, HttpRequest, final_payload, read_answer, stream_events

PROVIDER = {
    "name": "Custom Anthropic",
    "baseUrl": "https://api.anthropic.com",
    "api": "custom-anthropic-messages",
    "apiKey": "$CUSTOM_ANTHROPIC_API_KEY",
    "models": [
        {
            "id": "claude-sonnet-4-5",
            "name": "Claude Sonnet 4.5",
            "input": ["text"],
            "cost": {"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75},
            "contextWindow": 200000,
            "maxTokens": 64000,
        }
    ],
}


@hookimpl
def activate(pi: PiAPI) -> None:
    http = Http()  # costs nothing before the first request

    async def events(model: Model, context: Context, options: StreamOptions) -> AsyncGenerator[bytes]:
        payload = await final_payload(to_payload(model, context, options), model, options)
        headers = {"x-api-key": options.api_key or "", "anthropic-version": "2023-06-01"}
        request = HttpRequest(url=f"{model.base_url}/v1/messages", body=payload, headers=headers)
        async with aclosing(stream_events(http, request, options)) as received:
            async for _, data in received:
                yield data

    def stream(model: Model, context: Context, options: StreamOptions) -> AsyncIterator[AssistantMessageEvent]:
        return read_answer(events(model, context, options), cache(lambda: Reading(model)), options)

    pi.register_provider("custom-anthropic", PROVIDER, stream=stream)
