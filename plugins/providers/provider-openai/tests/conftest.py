"""Models, conversations and a way to ask; no test reads the machine's own environment."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model
from pi_provider_kit import Http
from pi_provider_openai.providers import AzureResponses, CodexResponses, Completions, Responses
from pi_testing import asking, conversation

TOKEN = "eyJhbGciOiJub25lIn0.eyJodHRwczovL2FwaS5vcGVuYWkuY29tL2F1dGgiOnsiY2hhdGdwdF9hY2NvdW50X2lkIjoiYWNjXzEifX0.c2ln"

PROVIDERS = {provider.api: provider for provider in (Completions, Responses, AzureResponses, CodexResponses)}


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    asking.forget_environment(monkeypatch, "AZURE_", "OPENAI_")


@pytest.fixture
def make_model():
    """``make_model("openai-responses", reasoning=True)``."""

    def made(api="openai-completions", **fields):
        known = {"id": "gpt-fake", "name": "Fake", "provider": "fake", "base_url": "http://127.0.0.1:9/v1"}
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
def output_schema():
    return {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer"}},
        "required": ["name"],
        "additionalProperties": False,
    }


@pytest.fixture
def payload_of():
    """The body of a request: ``await payload_of(model, *messages, system="", tools=(), **options)``."""

    async def body(model, *messages, **given):
        given.setdefault("api_key", TOKEN)
        return await asking.payload_of(PROVIDERS[model.api](), model, *messages, **given)

    return body


@pytest.fixture
async def ask():
    """The events of an answer: ``await ask(model, *messages, **options)``."""
    http = Http()

    async def events_of(model, *messages, **given):
        given.setdefault("api_key", TOKEN)
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
    """What a feeder makes of events: ``fed(feeder, {...}, {...})``; failures end it as in a provider."""
    return asking.feed
