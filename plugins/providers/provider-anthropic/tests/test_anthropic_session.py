"""A whole session over the fake API: what one turn received is what the next one sends."""

from __future__ import annotations

import pytest

from pi_core import create_agent_session
from pi_hookspecs import ProviderInfo, Tool, ToolResult, hookimpl
from pi_testing.fake_servers.anthropic import message, redacted_thinking, text, thinking, tool_use


class Served:
    """A plugin that knows the fake's model."""

    def __init__(self, model):
        self.model = model

    @hookimpl
    def register_models(self):
        return [
            ProviderInfo(
                id="anthropic",
                name="Fake",
                api="anthropic-messages",
                key_variables=("ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY"),
                default_model=self.model.id,
                models=(self.model,),
            )
        ]


@pytest.mark.parametrize(
    ("environ", "header", "value"),
    [
        ({}, "authorization", "Bearer gateway-0123456789"),
        ({"ANTHROPIC_API_KEY": "key-0123456789"}, "x-api-key", "key-0123456789"),
        (
            {"ANTHROPIC_API_KEY": "key-0123456789", "ANTHROPIC_OAUTH_TOKEN": "sk-ant-oat01-0123456789"},
            "authorization",
            "Bearer sk-ant-oat01-0123456789",
        ),
    ],
    ids=["token", "key before token", "login before both"],
)
async def test_the_environment_s_token_comes_last(
    server, model, pi_host, tmp_path, monkeypatch, environ, header, value
):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-0123456789")
    server.answers(message(text("Done.")))
    session = create_agent_session(
        cwd=tmp_path,
        host=pi_host,
        settings=pi_host.settings,
        plugins={"served": Served(model(server.url))},
        environ=environ,
    )
    async with session:
        answer = await session.prompt("Go")
    headers = server.request.headers

    assert answer.text == "Done."
    assert {name: headers[name] for name in ("authorization", "x-api-key") if name in headers} == {header: value}


@pytest.fixture
def session_of(server, model, pi_host, tmp_path):
    """Make a session with one tool, whose model thinks; the fields are those of ``Model``."""

    def make(tool, **fields):
        return create_agent_session(
            cwd=tmp_path,
            host=pi_host,
            settings=pi_host.settings,
            model="anthropic/claude-fake",
            thinking_level="low",
            tools=["read"],
            custom_tools=[tool],
            plugins={"served": Served(model(server.url, reasoning=True, **fields))},
            environ={"ANTHROPIC_API_KEY": "key-0123456789"},
        )

    return make


async def test_tool_turn_replays_thinking_call_and_result(server, session_of):
    async def execute(call_id, params, signal, on_update, ctx):
        return ToolResult.text(f"content of {params['path']}")

    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    tool = Tool(name="read", description="Read a file.", parameters=schema, execute=execute)
    server.answers(
        message(
            thinking("I should read it.", signature="c2ln"),
            redacted_thinking("b3BhcXVl"),
            text("I read it."),
            tool_use("toolu_1", "read", path="a.txt"),
        ),
        message(text("Done.")),
    )
    async with session_of(tool) as session:
        answer = await session.prompt("What is in a.txt?")

    assert answer.text == "Done."
    assert server.requests[0].headers["x-api-key"] == "key-0123456789"
    _, called, returned = server.requests[1].json["messages"]
    assert called["content"] == [
        {"type": "thinking", "thinking": "I should read it.", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "b3BhcXVl"},
        {"type": "text", "text": "I read it."},
        {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a.txt"}},
    ]
    assert returned["content"][0] == {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": "content of a.txt",
        "is_error": False,
        "cache_control": {"type": "ephemeral"},
    }


async def test_a_session_continues_its_message_thread_through_calls_and_prompts(server, session_of, tmp_path):
    async def execute(call_id, params, signal, on_update, ctx):
        return ToolResult.text((tmp_path / params["path"]).read_text())

    (tmp_path / "a.txt").write_text("hi")
    server.answers(
        message(
            thinking("I should read it.", signature="c2ln"),
            text("I read it.\n"),
            tool_use("toolu_1", "read", path="a.txt"),
            tool_use("toolu_2", "read", path="none.txt"),
            message_id="msg_1",
        ),
        message(text("It says hi."), message_id="msg_2"),
        message(text("Bye."), message_id="msg_3"),
    )
    tool = Tool(name="read", description="Read.", parameters={"type": "object"}, execute=execute)
    async with session_of(tool, compat={"supportsMessageThreads": True}) as session:
        await session.prompt("What is in a.txt?")
        answer = await session.prompt("Say bye.")

    bodies = [request.json for request in server.requests]
    assert answer.text == "Bye."
    assert [body["thread"].get("previous_message_id") for body in bodies] == [None, "msg_1", "msg_2"]
    assert [[each["role"] for each in body["messages"]] for body in bodies] == [["user"]] * 3
    assert [each["type"] for each in bodies[1]["messages"][0]["content"]] == ["tool_result", "tool_result"]
