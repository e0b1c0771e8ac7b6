"""A fake Bedrock on the loopback interface, a model that it serves, and the provider that asks it."""

from __future__ import annotations

from functools import partial

import pytest
from attrs import evolve

from pi_hookspecs import Context, Model, ModelCost, StreamOptions, UserMessage
from pi_provider_bedrock.provider import BedrockConverse
from pi_provider_kit import Http
from pi_testing import asking
from pi_testing.conversation import final_message
from pi_testing.fake_servers.bedrock import FakeBedrock
from pi_testing.provider_contract import Heard

TOKEN = "bedrock-api-key-secret-0123456789"
KEY_ID = "AKIAFAKE000000000000"
SECRET = "secret/key+of+forty+characters/0123456789"
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch, tmp_path):
    """No test reads the machine's own credentials, asks its instance for some, or goes through its proxy."""
    asking.forget_environment(monkeypatch, "AWS_")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def aws(monkeypatch, tmp_path):
    """Set variables and write AWS's files: ``aws(region="eu-west-1", key=True, config="[profile x]")``."""

    def arrange(config=None, credentials=None, *, key=False, region=None, **variables):
        for name, text in (("config", config), ("credentials", credentials)):
            if text is not None:
                (tmp_path / name).write_text(text, encoding="utf-8")
        if key:
            variables = {"AWS_ACCESS_KEY_ID": KEY_ID, "AWS_SECRET_ACCESS_KEY": SECRET, **variables}
        if region:
            variables["AWS_REGION"] = region
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return arrange


@pytest.fixture
async def server():
    async with FakeBedrock(secret=SECRET) as server:
        yield server


@pytest.fixture
def model():
    """Make a model that the fake serves; the fields are those of ``Model``."""

    def make(base_url="http://127.0.0.1:9", **fields):
        known = {
            "id": CLAUDE,
            "name": "Fake",
            "api": "bedrock-converse-stream",
            "provider": "amazon-bedrock",
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
async def provider():
    http = Http()
    yield BedrockConverse(http)
    await http.aclose()


@pytest.fixture
def ask(server, provider, model, context):
    """Ask the fake; what is not given is plain. ``model_fields`` and ``option_fields`` change parts of it."""

    async def ask(prompt=None, model_fields=None, **option_fields):
        asked = model(**{"base_url": server.url, **(model_fields or {})})
        options = evolve(StreamOptions(api_key=TOKEN), **option_fields)
        events = tuple([event async for event in provider.stream(asked, prompt or context(), options)])
        return Heard(events, final_message(events))

    return ask


@pytest.fixture
def payload_of(model, context):
    """The input of a request: ``payload_of(messages..., model_fields={}, system_prompt="", reasoning="low")``."""
    from pi_provider_bedrock.payload import to_payload
    from pi_provider_kit import SentTools

    def payload(*messages, model_fields=None, system_prompt="", tools=(), **options):
        prompt = context(*messages, system_prompt=system_prompt, tools=tuple(tools))
        asked = model(**(model_fields or {}))
        return to_payload(asked, prompt, StreamOptions(**options), SentTools(tools, asked))

    return payload
