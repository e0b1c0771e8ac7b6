"""A model, conversations in short, and ways to ask; no test reads the machine's own environment."""

from __future__ import annotations

import os

import orjson
import pytest

from pi_hookspecs import Context, Model, RequestFailed, StreamOptions, Tool
from pi_provider_kit import AnswerBuilder, Http
from pi_provider_mistral._provider import MistralConversations
from pi_provider_mistral._reading import Reading
from pi_testing import conversation
from pi_testing.fake_servers.mistral import FakeMistral

KEY = "mistral-secret-0123456789"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("MISTRAL_", "PI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
def make_model():
    """``make_model(reasoning=True)``."""

    def made(**fields):
        known = {"id": "mistral-fake", "name": "Fake", "provider": "mistral", "base_url": "http://127.0.0.1:9"}
        return Model(**{**known, "api": "mistral-conversations", "max_tokens": 4096, **fields})

    return made


@pytest.fixture
async def server():
    async with FakeMistral() as server:
        yield server


@pytest.fixture
def read_tool():
    async def execute(*_):
        raise NotImplementedError

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return Tool(name="read", description="Reads a file.", parameters=schema, execute=execute)


@pytest.fixture
def said():
    """Messages in short: ``said.user("Hi")``, ``said.answer(model, said.text("Hello"))``."""
    return conversation


@pytest.fixture
async def ask():
    """The events of an answer: ``await ask(model, *messages, **options)``."""
    http = Http()

    async def events_of(model, *messages, system="", tools=(), **options):
        options.setdefault("api_key", KEY)
        context = Context(system_prompt=system, messages=messages, tools=tuple(tools))
        stream = MistralConversations(http).stream(model, context, StreamOptions(**options))
        return [event async for event in stream]

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
def fed(make_model):
    """The events that come of chunks: ``fed({...}, b"[DONE]")``; failures end them as in the provider."""

    def events_of(*data, model=None):
        builder, seen = AnswerBuilder(model or make_model()), []
        reading = Reading(builder)
        try:
            for each in data:
                seen += reading.feed(each if isinstance(each, bytes) else orjson.dumps(each))
            seen += reading.end()
        except RequestFailed as problem:
            seen.append(builder.end_for(problem))
        return seen

    return events_of
