"""A fake Messages API on the loopback interface, a model that it serves, and the provider that asks it."""

from __future__ import annotations

from functools import partial

import pytest
from attrs import evolve

from pi_hookspecs import Context, Model, ModelCost, StreamOptions, UserMessage
from pi_provider_anthropic.provider import AnthropicMessages
from pi_provider_kit import Http
from pi_testing import asking
from pi_testing.conversation import final_message
from pi_testing.fake_servers.anthropic import FakeAnthropic
from pi_testing.provider_contract import Heard

KEY = "sk-ant-api03-secret-0123456789"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "AWS_REGION"),
        *("AWS_DEFAULT_REGION", "AWS_BEARER_TOKEN_BEDROCK", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_PROJECT"),
        *("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server():
    async with FakeAnthropic() as server:
        yield server


@pytest.fixture
def model():
    """Make a model that the fake serves; the fields are those of ``Model``."""

    def make(base_url="http://127.0.0.1:9", **fields):
        known = {
            "id": "claude-fake",
            "name": "Fake",
            "api": "anthropic-messages",
            "provider": "anthropic",
            "base_url": base_url,
            "input": ("text", "image"),
            "context_window": 200_000,
            "max_tokens": 8192,
            "cost": ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75),
        }
        return Model(**{**known, **fields})

    return make


@pytest.fixture
def tool():
    return partial(asking.read_tool, description="Read a file.")


@pytest.fixture
def context():
    """Make a context of messages, ``hi`` by default."""

    def make(*messages, **fields):
        return Context(messages=messages or (UserMessage(content="hi", timestamp=1),), **fields)

    return make


@pytest.fixture
def options():
    return StreamOptions(api_key=KEY)


@pytest.fixture
async def provider():
    http = Http()
    yield AnthropicMessages(http)
    await http.aclose()


@pytest.fixture
def ask(server, provider, model, context, options):
    """Ask the fake; what is not given is plain. ``model_fields`` and ``option_fields`` change parts of it."""

    async def ask(prompt=None, model_fields=None, **option_fields):
        asked = model(**{"base_url": server.url, **(model_fields or {})})
        answering = provider.stream(asked, prompt or context(), evolve(options, **option_fields))
        events = tuple([event async for event in answering])
        return Heard(events, final_message(events))

    return ask
