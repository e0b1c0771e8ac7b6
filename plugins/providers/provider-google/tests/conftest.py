"""Models, conversations and a way to ask; no test reads the machine's own environment."""

from __future__ import annotations

import os

import orjson
import pytest

from pi_hookspecs import Context, Model, StreamOptions, Tool
from pi_provider_google._providers import CodeAssist, GenerativeAI, Vertex
from pi_provider_kit import Http
from pi_testing import conversation

KEY = "AIza-0123456789"
LOGIN = '{"token":"ya29.0123456789","projectId":"proj-1"}'

PROVIDERS = {provider.api: provider for provider in (GenerativeAI, Vertex, CodeAssist)}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith(("GOOGLE_", "GEMINI_", "GCLOUD_", "CLOUDSDK_", "PI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")  # google-auth would look for a metadata server


@pytest.fixture
def make_model():
    """``make_model("google-vertex", reasoning=True)``."""

    def made(api="google-generative-ai", **fields):
        known = {"id": "gemini-fake", "name": "Fake", "provider": "google", "base_url": "http://127.0.0.1:9/v1beta"}
        return Model(**{**known, "api": api, "max_tokens": 4096, **fields})

    return made


@pytest.fixture
def read_tool():
    async def execute(*_):
        raise NotImplementedError

    return Tool(
        name="read",
        description="Reads a file.",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "description": "Lines"}},
            "required": ["path"],
        },
        execute=execute,
    )


@pytest.fixture
def said():
    """Messages in short: ``said.user("Hi")``, ``said.answer(model, ...)``, ``said.result("c1", "ok")``."""
    return conversation


@pytest.fixture
def payload_of():
    """The body of a request: ``await payload_of(model, *messages, system="", tools=(), **options)``."""

    class Sent(BaseException):
        """Ends the request; no ``Exception``, which would become the answer."""

    async def body(model, *messages, system="", tools=(), **options):
        seen = []

        async def on_payload(payload, _):
            seen.append(orjson.loads(orjson.dumps(payload)))
            raise Sent

        options.setdefault("api_key", LOGIN if model.api == "google-gemini-cli" else KEY)
        context = Context(system_prompt=system, messages=messages, tools=tuple(tools))
        with pytest.raises(Sent):
            async for _ in PROVIDERS[model.api]().stream(
                model, context, StreamOptions(on_payload=on_payload, **options)
            ):
                pass
        return seen[0]

    return body


@pytest.fixture
async def ask():
    """The events of an answer: ``await ask(model, *messages, **options)``."""
    http = Http()

    async def events_of(model, *messages, system="", tools=(), **options):
        options.setdefault("api_key", LOGIN if model.api == "google-gemini-cli" else KEY)
        context = Context(system_prompt=system, messages=messages, tools=tuple(tools))
        provider = PROVIDERS[model.api](http)
        return [event async for event in provider.stream(model, context, StreamOptions(**options))]

    yield events_of
    await http.aclose()


@pytest.fixture
def final():
    """The message that a stream of events ended with; its events are in order."""
    return conversation.final_message


@pytest.fixture
def reply(ask, final):
    """The message that a request ends with: ``await reply(model, *messages, **options)``."""

    async def message(*messages, **options):
        return final(await ask(*messages, **options))

    return message


@pytest.fixture
def fed():
    """What a reading makes of events: ``fed(model, {...}, {...})``; failures end it as in a provider."""
    from pi_hookspecs import RequestFailed
    from pi_provider_google._reading import Reading

    def events_of(model, *data):
        reading, seen = Reading(model), []
        try:
            for each in data:
                seen += reading.feed(each if isinstance(each, bytes) else orjson.dumps(each))
            seen += reading.end()
        except RequestFailed as problem:
            seen.append(reading.builder.end_for(problem))
        return seen

    return events_of
