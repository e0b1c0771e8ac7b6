"""Whose request it is: keys, bearer tokens, a subscription's identity, the user's own headers."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import AssistantMessage, TextContent, ToolCall, ToolResultMessage, UserMessage
from pi_provider_anthropic.auth_token import AuthToken
from pi_provider_anthropic.compat import Compat
from pi_provider_anthropic.identity import ToolNames, to_headers
from pi_testing.fake_servers.anthropic import message, text, tool_use

TOKEN = "sk-ant-oat01-secret-0123456789"


async def test_subscription_is_asked_under_claude_code_s_identity(ask, server, context, tool):
    server.answers(message(text("ok")))
    prompt = context(system_prompt="Be brief.", tools=(tool("read"), tool("websearch"), tool("my_tool")))
    await ask(prompt, {"reasoning": True}, api_key=TOKEN, reasoning="low")
    headers, body = server.request.headers, server.request.json

    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert "x-api-key" not in headers
    assert headers["user-agent"] == "claude-cli/2.1.322"
    assert headers["x-app"] == "cli"
    assert headers["anthropic-beta"] == "claude-code-20250219,oauth-2025-04-20,interleaved-thinking-2025-05-14"
    assert body["system"] == [
        {
            "type": "text",
            "text": "You are Claude Code, Anthropic's official CLI for Claude.",
            "cache_control": {"type": "ephemeral"},
        },
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}},
    ]
    assert [each["name"] for each in body["tools"]] == ["Read", "WebSearch", "my_tool"]


async def test_names_of_tools_are_mapped_back(ask, server, context, tool):
    server.answers(message(tool_use("toolu_1", "Read", path="a"), tool_use("toolu_2", "Novel")))
    reply = await ask(context(tools=(tool("read"),)), api_key=TOKEN)

    assert [call.name for call in reply.message.tool_calls] == ["read", "Novel"]
    assert [event.tool_name for event in reply.events if event.type == "toolcall_start"] == ["read", "Novel"]


async def test_calls_of_the_history_and_the_tool_choice_are_mapped_too(ask, server, context, tool):
    server.answers(message(text("ok")))
    called = AssistantMessage(
        content=(ToolCall("toolu_1", "bash", {}),), api="anthropic-messages", provider="anthropic", model="claude-fake"
    )
    prompt = context(
        UserMessage(content="go"),
        called,
        ToolResultMessage(tool_call_id="toolu_1", tool_name="bash"),
        tools=(tool("read"),),
    )
    await ask(prompt, api_key=TOKEN, tool_choice={"type": "tool", "name": "read"})

    assert server.request.json["messages"][1]["content"][0]["name"] == "Bash"
    assert server.request.json["tool_choice"] == {"type": "tool", "name": "Read"}


def test_names_stay_as_they_are_with_an_ordinary_key(tool, model):
    names = ToolNames([tool("read")], model(), claude_code=False)

    assert (names.sent("read"), names.ours("Read")) == ("read", "Read")


def test_tools_that_differ_only_in_case_stay_apart(tool, model):
    names = ToolNames([tool("read"), tool("Read")], model(), claude_code=True)

    assert [names.sent("read"), names.sent("Read")] == ["read", "Read"]
    assert [names.ours("read"), names.ours("Read")] == ["read", "Read"]


@pytest.mark.parametrize("transport", ["http", pytest.param("sdk", marks=pytest.mark.slow)])
async def test_the_environment_s_token_is_bearer_without_claude_code_s_identity(ask, server, monkeypatch, transport):
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "gateway-0123456789\n")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-asked-for")
    server.answers(message(text("ok")), message(text("ok")))
    await ask(api_key="gateway-0123456789", transport=transport)
    await ask(api_key="another-0123456789", transport=transport)
    first, second = server.requests

    assert first.headers["authorization"] == "Bearer gateway-0123456789"
    assert "x-api-key" not in first.headers
    assert "x-app" not in first.headers
    assert "system" not in first.json
    assert second.headers["x-api-key"] == "another-0123456789"
    assert "authorization" not in second.headers


async def test_the_environment_s_token_answers_for_anthropic_alone(monkeypatch):
    source = AuthToken()
    before = (source.available("anthropic"), await source.credential("anthropic"))
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", " gateway-0123456789 ")

    assert before == (False, None)
    assert (source.available("anthropic"), await source.credential("anthropic")) == (True, "gateway-0123456789")
    assert (source.available("openai"), await source.credential("openai")) == (False, None)


def test_our_own_spelling_comes_back(tool, model):
    names = ToolNames([tool("ReAD")], model(), claude_code=True)

    assert names.sent("ReAD") == "Read"
    assert names.ours("Read") == names.ours("READ") == "ReAD"


@pytest.mark.parametrize(
    ("base_url", "header"),
    [
        ("https://api.anthropic.com", "x-api-key"),
        ("https://openrouter.ai/api", "authorization"),
        ("https://api.individual.githubcopilot.com", "authorization"),
        ("https://gateway.ai.cloudflare.com/v1/a/g/anthropic", "cf-aig-authorization"),
    ],
)
def test_each_host_gets_the_key_where_it_looks_for_it(model, options, base_url, header):
    asked = model(base_url)
    headers = to_headers(asked, (), options, Compat.of(asked), {})
    keys = {"x-api-key", "authorization", "cf-aig-authorization"}

    assert headers.keys() & keys == {header}
    assert headers[header] == options.api_key if header == "x-api-key" else f"Bearer {options.api_key}"


def test_a_request_to_copilot_says_who_started_it(model, options):
    asked = evolve(model("https://api.individual.githubcopilot.com"), provider="github-copilot")
    prompt = UserMessage(content=(TextContent("Hi"),))
    result = ToolResultMessage(tool_call_id="c", tool_name="read", content=(TextContent("x"),))
    sent = [to_headers(asked, messages, options, Compat.of(asked), {}) for messages in ([prompt], [prompt, result])]

    assert [headers["x-initiator"] for headers in sent] == ["user", "agent"]
    assert sent[0]["openai-intent"] == "conversation-edits"


def test_openrouter_routes_by_a_header_of_its_own(model, options):
    asked = model("https://openrouter.ai/api")
    headers = to_headers(asked, (), evolve(options, session_id="s1"), Compat.of(asked), {})

    assert (headers["x-session-id"], headers.get("x-session-affinity")) == ("s1", None)


def test_entra_token_is_sent_to_foundry_as_bearer(model):
    from pi_hookspecs import StreamOptions

    asked = model("https://me.services.ai.azure.com/anthropic")

    assert (
        to_headers(asked, (), StreamOptions(api_key="eyJ0.a.b"), Compat.of(asked), {})["authorization"]
        == "Bearer eyJ0.a.b"
    )
    assert to_headers(asked, (), StreamOptions(api_key="key"), Compat.of(asked), {})["x-api-key"] == "key"


async def test_headers_of_model_and_options_win_and_betas_join(ask, server, context, tool):
    server.answers(message(text("ok")))
    await ask(
        context(tools=(tool(),)),
        {"headers": {"X-App": "theirs", "Anthropic-Beta": "context-1m-2025-08-07"}},
        api_key=TOKEN,
        headers={"User-Agent": "mine", "anthropic-beta": "oauth-2025-04-20, novel"},
    )
    headers = server.request.headers

    assert (headers["x-app"], headers["user-agent"]) == ("theirs", "mine")
    assert headers["anthropic-beta"] == "claude-code-20250219,oauth-2025-04-20,context-1m-2025-08-07,novel"


async def test_server_without_keys_gets_none(ask, server):
    server.check = False
    server.answers(message(text("ok")))
    reply = await ask(api_key=None)

    assert reply.message.text == "ok"
    assert not server.request.headers.keys() & {"x-api-key", "authorization"}
