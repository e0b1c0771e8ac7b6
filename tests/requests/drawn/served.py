"""Sessions with a fake server of each API, and a tool with a schema that only some APIs accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pi_provider_anthropic
import pi_provider_bedrock
import pi_provider_google
import pi_provider_mistral
import pi_provider_openai
from pi_hookspecs import Model, ProviderInfo, Tool, ToolResult, hookimpl
from pi_testing.fake_servers import anthropic, bedrock, google, mistral, openai

if TYPE_CHECKING:
    from collections.abc import Callable

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="

FAKES: dict[str, tuple[Callable[[], Any], str, Callable[..., Any], Callable[..., Any]]] = {
    "anthropic-messages": (
        anthropic.FakeAnthropic,
        "claude-x",
        lambda said: anthropic.message(anthropic.thinking("Hm.", signature="c2ln"), anthropic.text(said)),
        lambda number, name, arguments: anthropic.message(anthropic.tool_use(f"toolu_{number}", name, **arguments)),
    ),
    "openai-completions": (
        openai.FakeOpenAI,
        "gpt-x",
        lambda said: openai.completion(openai.text(said)),
        lambda number, name, arguments: openai.completion(openai.call(f"call_{number}", name, **arguments)),
    ),
    "openai-responses": (
        openai.FakeOpenAI,
        "gpt-y",
        lambda said: openai.response(openai.text(said)),
        lambda number, name, arguments: openai.response(openai.call(f"call_{number}", name, **arguments)),
    ),
    "google-generative-ai": (
        google.FakeGoogle,
        "gemini-3-pro",
        lambda said: google.answer(google.thought("Hm.", signature="c2ln"), google.text(said)),
        lambda number, name, arguments: google.answer(google.call(name, signature="c2ln", **arguments)),
    ),
    "mistral-conversations": (
        mistral.FakeMistral,
        "mistral-x",
        lambda said: mistral.completion(mistral.text(said)),
        lambda number, name, arguments: mistral.completion(mistral.call(f"{number:09d}", name, **arguments)),
    ),
    "bedrock-converse-stream": (
        bedrock.FakeBedrock,
        "anthropic.claude-x",
        lambda said: bedrock.message(bedrock.thinking("Hm."), bedrock.text(said)),
        lambda number, name, arguments: bedrock.message(bedrock.tool_use(f"tooluse_{number}", name, **arguments)),
    ),
}
"""API id to its server, a model, and functions that make an answer with a text and one with a call."""

PROVIDERS = {
    "anthropic": pi_provider_anthropic,
    "bedrock": pi_provider_bedrock,
    "google": pi_provider_google,
    "mistral": pi_provider_mistral,
    "openai": pi_provider_openai,
}

KEY = "$.q"
TOOL = "web_search"


def model_at(api: str, url: str) -> Model:
    """Return the model that the fake of an API serves."""
    known = {"id": FAKES[api][1], "name": "M", "api": api, "provider": f"fake-{api}", "compat": {"transport": "http"}}
    return Model(**known, base_url=url, reasoning=True, input=("text", "image"))


class Served:
    """A plugin that knows the fakes' models."""

    def __init__(self, urls: dict[str, str]) -> None:
        self.urls = urls

    @hookimpl
    def register_models(self) -> list[ProviderInfo]:
        return [
            ProviderInfo(
                id=f"fake-{api}",
                name="Fake",
                api=api,
                key_variables=("FAKE_KEY",),
                default_model=FAKES[api][1],
                models=(model_at(api, url),),
            )
            for api, url in self.urls.items()
        ]


def search(calls: list[dict[str, Any]]) -> Tool:
    """Return a tool with a schema, and a name of its argument, that only some APIs accept; it prints nothing."""

    async def execute(call_id: str, params: dict[str, Any], *_: Any) -> ToolResult:
        calls.append(params)
        return ToolResult.text("\r\n")

    schema = {"type": "object", "properties": {KEY: {"type": "string"}}, "anyOf": [{"required": [KEY]}]}
    return Tool(name=TOOL, description="Search the web.", parameters=schema, execute=execute)


def url_of(server: Any) -> str:
    return getattr(server, "base_url", server.url)
