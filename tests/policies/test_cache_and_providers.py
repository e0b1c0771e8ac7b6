"""What the providers send of a growing conversation only grows: the cache linter finds no break in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from attrs import evolve

from pi_cache_lint.chain import Digests, chain_of
from pi_cache_lint.difference import first_difference
from pi_core import PluginHost, Settings
from pi_core.models.registry import ModelRegistry
from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_testing.asking import payload_of, read_tool

MODELS = (
    "anthropic/claude-sonnet-4-5",
    "openai/gpt-5.1",
    "openrouter/anthropic/claude-sonnet-4.5",
    "google/gemini-2.5-pro",
    "mistral/mistral-large-latest",
    "amazon-bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "deepseek/deepseek-chat",
    "groq/openai/gpt-oss-120b",
)


def conversation(model):
    def answer(*content, stop_reason="stop"):
        return AssistantMessage(
            content=content, api=model.api, provider=model.provider, model=model.id, stop_reason=stop_reason
        )

    for turn in range(3):
        yield UserMessage(content=f"Question {turn}")
        calls = [ToolCall(f"call_{turn}{number}", "read", {"path": f"{number}.py"}) for number in range(2)]
        yield answer(ThinkingContent("hm", "c2ln"), TextContent("I look."), *calls, stop_reason="toolUse")
        for call in calls:
            content = (TextContent("x = 1"), *([ImageContent("aGk=", "image/png")] if turn == 1 else []))
            yield ToolResultMessage(tool_call_id=call.id, tool_name="read", content=content)
        yield answer(ThinkingContent("so", "c2lu"), TextContent(f"Answer {turn}"))


KEYS = ("ANTHROPIC", "OPENAI", "OPENROUTER", "GEMINI", "MISTRAL", "DEEPSEEK", "GROQ")


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    settings = Settings.in_memory(agent_dir=tmp_path_factory.mktemp("agent"))
    aws = {"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1"}
    environ = {**{f"{name}_API_KEY": "k" for name in KEYS}, **aws}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environ.items():
            patch.setenv(name, value)
        yield ModelRegistry(PluginHost(settings), settings, environ)


@pytest.mark.parametrize("name", MODELS)
async def test_a_request_continues_the_one_before(registry, name):
    model = registry.find(name)
    messages = list(conversation(model))
    digests, before = Digests(), None
    for seen in [messages[:end] for end, message in enumerate(messages) if message.role == "assistant"]:
        options = {"system": "Be brief.", "tools": [read_tool()], "reasoning": "low", "session_id": "s"}
        payload = await payload_of(registry, model, *seen, **options)
        chain = chain_of(payload, digests, str)

        assert chain is not None
        assert chain.tools
        assert len(chain.messages) >= len(seen) - 1
        assert before is None or first_difference(before, chain) is None
        before = chain


def named(*names):
    return [evolve(read_tool(), name=name) for name in names]


WIDER = evolve(read_tool(), name="find", description="Find files by another pattern.")
CHANGES = (
    (named("read"), "low"),
    (named("read", "find"), "low"),
    (named("read", "find"), "high"),
    (named("find"), "high"),
    (named("find"), "max"),
    ([WIDER], "max"),
    ([*named("read"), WIDER], "medium"),
    (named("read", "find", "grep", "ls"), "medium"),
    (named("ls", "find", "grep", "read"), "xhigh"),
    (named("bash"), "low"),
    (named("bash", "read"), "high"),
)
"""Tools and thinking level of each turn: ten changes."""


async def requests_with_changes(registry, model, session):
    """Yield the body of each turn of a session in which tools and thinking level change, with what was asked for."""
    messages = []
    for turn, (tools, level) in enumerate(CHANGES):
        messages.append(UserMessage(content=f"Question {turn}"))
        options = {"system": "Be brief.", "tools": tools, "reasoning": level, "session_id": session}
        yield await payload_of(registry, model, *messages, **options), tools, level
        messages.append(
            AssistantMessage(
                content=(ThinkingContent("hm", "c2ln"), TextContent(f"Answer {turn}")),
                api=model.api,
                provider=model.provider,
                model=model.id,
                thinking_level=level,
            )
        )


def offered(payload):
    """Return the tools that a model has at the end of a request, and how hard it is asked to think."""
    tools = {each["name"]: each["description"] for each in payload["tools"] if not each.get("defer_loading")}
    effort = payload["output_config"]["effort"]
    for message in payload["messages"]:
        if message["role"] != "system":
            continue
        effort = message.get("output_config", {}).get("effort", effort)
        for block in message["content"]:
            if block["type"] == "tool_removal":
                del tools[block["tool"]["name"]]
            else:
                definition = block["tool"]["definition"]
                tools[definition["name"]] = definition["description"]
    return tools, effort


@pytest.mark.parametrize("name", ["anthropic/claude-opus-5", "anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5"])
async def test_ten_changes_of_tools_and_thinking_level_break_no_cache_where_the_vendor_has_a_form_for_them(
    registry, name
):
    model = registry.find(name)
    digests, before = Digests(), None

    async for payload, tools, level in requests_with_changes(registry, model, name):
        chain = chain_of(payload, digests, str)

        assert before is None or first_difference(before, chain) is None
        assert offered(payload) == ({each.name: each.description for each in tools}, level)
        before = chain


async def test_where_the_vendor_has_no_form_for_a_change_the_linter_finds_each_one(registry):
    model = registry.find("anthropic/claude-sonnet-4-6")
    digests, chains = Digests(), []
    async for payload, _, _ in requests_with_changes(registry, model, "other"):
        chains.append(chain_of(payload, digests, str))

    found = [first_difference(*pair) for pair in pairwise(chains)]

    assert all(each is not None and each.area in ("parameter", "tools") for each in found)
