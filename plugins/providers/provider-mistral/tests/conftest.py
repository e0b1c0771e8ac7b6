"""A model, conversations in short, and ways to ask; no test reads the machine's own environment."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model
from pi_provider_kit import AnswerBuilder, Http
from pi_provider_mistral.provider import MistralConversations
from pi_provider_mistral.reading import Reading
from pi_testing import asking, conversation
from pi_testing.fake_servers.mistral import FakeMistral

KEY = "mistral-secret-0123456789"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch):
    asking.forget_environment(monkeypatch, "MISTRAL_")


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
    return asking.read_tool()


@pytest.fixture
def chat():
    """Messages in short: ``said.user("Hi")``, ``said.answer(model, said.text("Hello"))``."""
    return conversation


@pytest.fixture
async def ask():
    """The events of an answer: ``await ask(model, *messages, **options)``."""
    http = Http()

    async def events_of(model, *messages, **given):
        given.setdefault("api_key", KEY)
        return await asking.answer_events(MistralConversations(http), model, *messages, **given)

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
    return lambda *data, model=None: asking.feed(Reading(AnswerBuilder(model or make_model())), *data)
