"""A whole session over the fake API: what one turn received is what the next one sends, and who may ask."""

from __future__ import annotations

import pytest

from pi_core import create_agent_session
from pi_hookspecs import ProviderInfo, Tool, ToolResult, hookimpl
from pi_testing.fake_servers.bedrock import message, redacted_thinking, text, thinking, tool_use


class Served:
    """A plugin that knows the fake's model."""

    def __init__(self, model):
        self.model = model

    @hookimpl
    def register_models(self):
        return [
            ProviderInfo(
                id="amazon-bedrock",
                name="Fake",
                api="bedrock-converse-stream",
                key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
                default_model=self.model.id,
                models=(self.model,),
            )
        ]


@pytest.fixture
def session(server, model, pi_host, tmp_path):
    def make(environ, **fields):
        plugins = {"served": Served(model(server.url, reasoning=True))}
        return create_agent_session(
            cwd=tmp_path, host=pi_host, settings=pi_host.settings, plugins=plugins, environ=environ, **fields
        )

    return make


async def test_a_tool_turn_replays_thinking_call_and_result(session, server):
    async def execute(call_id, params, signal, on_update, ctx):
        return ToolResult.text(f"content of {params['path']}")

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = Tool(name="read", description="Read a file.", parameters=schema, execute=execute)
    server.answers(
        message(
            thinking("I should read it.", signature="c2ln"),
            redacted_thinking("b3BhcXVl"),
            text("I read it."),
            tool_use("tooluse_1", "read", path="a.txt"),
        ),
        message(text("Done.")),
    )
    environ = {"AWS_BEARER_TOKEN_BEDROCK": "token-0123456789"}
    async with session(environ, thinking_level="low", tools=["read"], custom_tools=[tool]) as running:
        answer = await running.prompt("What is in a.txt?")

    assert answer.text == "Done."
    assert server.requests[0].headers["authorization"] == "Bearer token-0123456789"
    _, called, returned = server.requests[1].json["messages"]
    assert called["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "I should read it.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "b3BhcXVl"}},
        {"text": "I read it."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "read", "input": {"path": "a.txt"}}},
    ]
    assert returned["content"] == [
        {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "content of a.txt"}], "status": "success"}},
        {"cachePoint": {"type": "default"}},
    ]


async def test_credentials_of_aws_choose_the_provider_and_sign(session, server, aws):
    aws(key=True)
    server.answers(message(text("Signed.")))
    async with session({}) as running:
        answer = await running.prompt("Hello")

    assert answer.text == "Signed."
    assert server.request.headers["authorization"].startswith("AWS4-HMAC-SHA256 ")


async def test_no_credentials_name_every_way_to_some(session, model):
    async with session({}, model=f"amazon-bedrock/{model().id}") as running:
        answer = await running.prompt("Hello")

    assert answer.error_message.startswith("No API key found for amazon-bedrock. Set AWS_PROFILE")
    assert "AWS_BEARER_TOKEN_BEDROCK" in answer.error_message
