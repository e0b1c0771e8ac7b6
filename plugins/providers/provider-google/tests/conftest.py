"""Models, conversations and a way to ask; no test reads the machine's own environment."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model
from pi_provider_google.providers import CodeAssist, GenerativeAI, Vertex
from pi_provider_kit import Http
from pi_testing import asking, conversation

KEY = "AIza-0123456789"
LOGIN = '{"token":"ya29.0123456789","projectId":"proj-1"}'

PROVIDERS = {provider.api: provider for provider in (GenerativeAI, Vertex, CodeAssist)}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, tmp_path):
    asking.forget_environment(monkeypatch, "GOOGLE_", "GEMINI_", "GCLOUD_", "CLOUDSDK_")
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
    properties = {"path": {"type": "string"}, "limit": {"type": "integer", "description": "Lines"}}
    return asking.read_tool(parameters={"type": "object", "properties": properties, "required": ["path"]})


@pytest.fixture
def chat():
    """Messages in short: ``said.user("Hi")``, ``said.answer(model, ...)``, ``said.result("c1", "ok")``."""
    return conversation


@pytest.fixture
def payload_of():
    """The body of a request: ``await payload_of(model, *messages, system="", tools=(), **options)``."""

    async def body(model, *messages, **given):
        given.setdefault("api_key", LOGIN if model.api == "google-gemini-cli" else KEY)
        return await asking.payload_of(PROVIDERS[model.api](), model, *messages, **given)

    return body


@pytest.fixture
async def ask():
    """The events of an answer: ``await ask(model, *messages, **options)``."""
    http = Http()

    async def events_of(model, *messages, **given):
        given.setdefault("api_key", LOGIN if model.api == "google-gemini-cli" else KEY)
        return await asking.answer_events(PROVIDERS[model.api](http), model, *messages, **given)

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
    from pi_provider_google.reading import Reading

    return lambda model, *data: asking.feed(Reading(model), *data)
