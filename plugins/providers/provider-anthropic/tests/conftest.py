"""A fake Messages API on the loopback interface, a model that it serves, and the provider that asks it."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import Context, Done, Error, Model, ModelCost, StreamOptions, Tool, UserMessage
from pi_provider_anthropic._provider import AnthropicMessages
from pi_provider_kit import Http
from pi_testing.fake_servers.anthropic import FakeAnthropic

KEY = "sk-ant-api03-secret-0123456789"


class Heard:
    """Everything that a stream said."""

    def __init__(self, events):
        self.events = events

    @property
    def last(self):
        return self.events[-1]

    @property
    def message(self):
        return self.last.message if isinstance(self.last, Done) else self.last.error

    @property
    def types(self):
        return [event.type for event in self.events]

    @property
    def error(self):
        assert isinstance(self.last, Error), self.types
        return self.message.error_message


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
    async def execute(call_id, params, signal, on_update, ctx):
        raise NotImplementedError

    def make(name="read", parameters=None, description="Read a file."):
        schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
        return Tool(name=name, description=description, parameters=parameters or schema, execute=execute)

    return make


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

    async def ask(said=None, model_fields=None, **option_fields):
        asked = model(**{"base_url": server.url, **(model_fields or {})})
        answering = provider.stream(asked, said or context(), evolve(options, **option_fields))
        return Heard([event async for event in answering])

    return ask
