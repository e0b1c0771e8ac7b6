"""A model, conversations in short, and ways to ask; no test reads the machine's own environment."""

from __future__ import annotations

import os

import orjson
import pytest

from pi_hookspecs import (
    AssistantMessage,
    Context,
    ImageContent,
    Model,
    RequestFailed,
    StreamOptions,
    TextContent,
    ThinkingContent,
    Tool,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_provider_kit import AnswerBuilder, Http
from pi_provider_mistral._provider import MistralConversations
from pi_provider_mistral._reading import Reading
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
    return _Said()


class _Said:
    def user(self, *content):
        if len(content) == 1 and isinstance(content[0], str):
            return UserMessage(content=content[0], timestamp=0)
        return UserMessage(content=content, timestamp=0)

    def answer(self, model, *content, **fields):
        known = {"api": model.api, "provider": model.provider, "model": model.id}
        return AssistantMessage(content=content, timestamp=0, **{**known, **fields})

    def result(self, call_id, *content, name="read", **fields):
        blocks = tuple(TextContent(each) if isinstance(each, str) else each for each in content)
        return ToolResultMessage(tool_call_id=call_id, tool_name=name, content=blocks, timestamp=0, **fields)

    text = staticmethod(TextContent)
    thinking = staticmethod(ThinkingContent)
    call = staticmethod(ToolCall)
    image = staticmethod(lambda data="aW1n": ImageContent(data, "image/png"))


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

    def message(events):
        last = events[-1]
        kinds = [event.type for event in events]
        assert kinds[-1] in ("done", "error")
        assert not {"done", "error"} & set(kinds[:-1])
        if len(kinds) > 1 or kinds[-1] == "done":
            assert kinds.index("start") == 0
        return last.message if last.type == "done" else last.error

    return message


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
