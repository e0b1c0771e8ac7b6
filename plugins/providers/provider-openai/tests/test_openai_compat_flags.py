"""Every compatibility flag, and which hosts have which."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_provider_openai.completions_compat import DEFAULTS, compat_of

NONE = object()


def effort(**fields):
    return {"reasoning": "high", **fields}


FIELDS = [
    ({"supportsStore": False}, {}, {"store": NONE}),
    ({"supportsUsageInStreaming": False}, {}, {"stream_options": NONE}),
    ({"maxTokensField": "max_tokens"}, {}, {"max_tokens": 4096, "max_completion_tokens": NONE}),
    ({"vllmPriority": 5}, {}, {"priority": 5}),
    ({"openRouterRouting": {"only": ["a"]}}, {}, {"provider": {"only": ["a"]}}),
    (
        {"vercelGatewayRouting": {"only": ["a"], "order": ["b"], "x": 1}},
        {},
        {"providerOptions": {"gateway": {"only": ["a"], "order": ["b"]}}},
    ),
    ({"supportsLongCacheRetention": False}, {"cache_retention": "long"}, {"prompt_cache_retention": NONE}),
    ({"promptCacheKeyMode": "session"}, {"session_id": "s" * 70}, {"prompt_cache_key": "s" * 64}),
    ({"promptCacheKeyMode": "none"}, {"session_id": "s", "cache_retention": "long"}, {"prompt_cache_key": NONE}),
    ({"supportsReasoningEffort": False}, effort(), {"reasoning_effort": NONE}),
    ({}, effort(), {"reasoning_effort": "high"}),
    ({}, {}, {"reasoning_effort": NONE}),
    ({"reasoningEffortMap": {"high": "max"}}, effort(), {"reasoning_effort": "max"}),
    ({"thinkingFormat": "zai"}, effort(), {"thinking": {"type": "enabled", "clear_thinking": False}}),
    ({"thinkingFormat": "zai"}, effort(), {"reasoning_effort": "high"}),
    ({"thinkingFormat": "zai"}, {}, {"thinking": {"type": "disabled"}, "reasoning_effort": NONE}),
    ({"thinkingFormat": "qwen"}, effort(), {"enable_thinking": True, "reasoning_effort": "high"}),
    ({"thinkingFormat": "qwen"}, {}, {"enable_thinking": False, "reasoning_effort": NONE}),
    (
        {"thinkingFormat": "qwen-chat-template"},
        effort(),
        {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
    ),
    (
        {
            "thinkingFormat": "chat-template",
            "chatTemplateKwargs": {
                "on": {"$var": "thinking.enabled"},
                "budget": {"$var": "thinking.budget"},
                "effort": {"$var": "thinking.effort"},
                "fixed": 1,
            },
        },
        effort(),
        {"chat_template_kwargs": {"on": True, "budget": 3072, "effort": "high", "fixed": 1}},
    ),
    (
        {
            "thinkingFormat": "chat-template",
            "chatTemplateKwargs": {
                "on": {"$var": "thinking.enabled", "omitWhenOff": True},
                "budget": {"$var": "thinking.budget"},
            },
        },
        {},
        {"chat_template_kwargs": NONE},
    ),
    (
        {"thinkingFormat": "baseten", "chatTemplateArgs": {"enable_thinking": {"$var": "thinking.enabled"}}},
        {},
        {"chat_template_args": {"enable_thinking": False}, "reasoning_effort": NONE},
    ),
    (
        {"thinkingFormat": "deepseek"},
        effort(),
        {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
    ),
    ({"thinkingFormat": "deepseek"}, {}, {"thinking": {"type": "disabled"}, "reasoning_effort": NONE}),
    ({"thinkingFormat": "openrouter"}, effort(), {"reasoning": {"effort": "high"}, "reasoning_effort": NONE}),
    ({"thinkingFormat": "openrouter"}, {}, {"reasoning": {"effort": "none"}}),
    ({"thinkingFormat": "ant-ling"}, effort(), {"reasoning": NONE}),
    ({"thinkingFormat": "together"}, effort(), {"reasoning": {"enabled": True}, "reasoning_effort": "high"}),
    ({"thinkingFormat": "together"}, {}, {"reasoning": {"enabled": False}}),
    ({"thinkingFormat": "string-thinking"}, effort(), {"thinking": "high"}),
    ({"thinkingFormat": "string-thinking"}, {}, {"thinking": "none"}),
    ({"thinkingTokenBudgetField": "thinking_budget"}, effort(), {"thinking_budget": 3072}),
    ({"supportsThinkingTokenBudget": True}, effort(thinking_budgets={"high": 50}), {"thinking_token_budget": 50}),
    ({"supportsThinkingTokenBudget": True}, {}, {"thinking_token_budget": NONE}),
    ({"supportsMidConvoToolAdditions": True, "supportsOpenAIGrammarTools": True}, {}, {"tools": NONE}),
]


@pytest.mark.parametrize(("compat", "options", "expected"), FIELDS, ids=[str(row[0])[:60] for row in FIELDS])
async def test_flags_change_fields_of_the_request(make_model, chat, payload_of, compat, options, expected):
    body = await payload_of(make_model(reasoning=True, compat=compat), chat.user("a"), **options)

    assert {name: body.get(name, NONE) for name in expected} == expected


@pytest.mark.parametrize(
    ("levels", "format_", "options", "expected"),
    [
        ({"off": "none"}, "openai", {}, {"reasoning_effort": "none"}),
        ({"off": None}, "deepseek", {}, {"thinking": NONE}),
        ({"off": None}, "openrouter", {}, {"reasoning": NONE}),
        ({"off": None}, "string-thinking", {}, {"thinking": NONE}),
        ({"high": "ultra"}, "ant-ling", effort(), {"reasoning": {"effort": "ultra"}}),
        ({"high": None, "max": "max"}, "openai", effort(), {"reasoning_effort": "max"}),
        ({"off": "off", "high": "x"}, "baseten", {}, {"reasoning_effort": "off"}),
    ],
)
async def test_the_model_s_own_levels_win(make_model, chat, payload_of, levels, format_, options, expected):
    model = make_model(reasoning=True, thinking_level_map=levels, compat={"thinkingFormat": format_})
    body = await payload_of(model, chat.user("a"), **options)

    assert {name: body.get(name, NONE) for name in expected} == expected


async def test_a_model_without_reasoning_gets_no_reasoning_options(make_model, chat, payload_of):
    for format_ in ("openai", "zai", "qwen", "openrouter", "deepseek", "together"):
        body = await payload_of(make_model(compat={"thinkingFormat": format_}), chat.user("a"), reasoning="high")

        assert not {"reasoning", "thinking", "reasoning_effort", "enable_thinking"} & body.keys()


async def test_zai_tool_stream(make_model, chat, payload_of, read_tool):
    model = make_model(compat={"zaiToolStream": True})

    assert (await payload_of(model, chat.user("a"), tools=[read_tool]))["tool_stream"] is True
    assert "tool_stream" not in await payload_of(model, chat.user("a"))


async def messages_with(compat, make_model, chat, payload_of, **fields):
    model = make_model(reasoning=True, compat=compat, **fields)
    return await payload_of(
        model,
        chat.user("a"),
        chat.answer(model, chat.thinking("Hm.", "reasoning_content"), chat.call("c1", "read", {})),
        chat.result("c1", "ok"),
        chat.user("b"),
        chat.answer(model, chat.thinking("So.", "reasoning_content"), chat.text("Yes")),
        chat.user("c"),
        system="S",
    )


async def test_supports_developer_role(make_model, chat, payload_of):
    plain = await messages_with({}, make_model, chat, payload_of)
    body = await messages_with({"supportsDeveloperRole": True}, make_model, chat, payload_of)

    assert [each["messages"][0]["role"] for each in (plain, body)] == ["system", "developer"]


async def test_requires_tool_result_name(make_model, chat, payload_of):
    body = await messages_with({"requiresToolResultName": True}, make_model, chat, payload_of)

    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "ok", "name": "read"}


async def test_requires_assistant_after_tool_result(make_model, chat, payload_of):
    body = await messages_with({"requiresAssistantAfterToolResult": True}, make_model, chat, payload_of)

    assert body["messages"][4] == {"role": "assistant", "content": "I have processed the tool results."}
    assert body["messages"][2]["content"] == ""


async def test_requires_non_null_assistant_content(make_model, chat, payload_of):
    body = await messages_with({"requiresNonNullAssistantContent": True}, make_model, chat, payload_of)

    assert body["messages"][2]["content"] == ""


async def test_requires_thinking_as_text(make_model, chat, payload_of):
    body = await messages_with({"requiresThinkingAsText": True}, make_model, chat, payload_of)

    assert body["messages"][5] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "So."}, {"type": "text", "text": "Yes"}],
    }


async def test_requires_tools_with_tool_history(make_model, chat, payload_of):
    body = await messages_with({"requiresToolsWithToolHistory": True}, make_model, chat, payload_of)
    without = await payload_of(make_model(compat={"requiresToolsWithToolHistory": True}), chat.user("a"))

    assert body["tools"] == []
    assert "tools" not in without
    assert "tools" not in await messages_with({}, make_model, chat, payload_of)


async def test_requires_reasoning_content_on_assistant_messages(make_model, chat, payload_of):
    model = make_model(reasoning=True, compat={"requiresReasoningContentOnAssistantMessages": True})
    body = await payload_of(model, chat.user("a"), chat.answer(model, chat.text("Yes")), chat.user("b"))

    assert body["messages"][1] == {"role": "assistant", "content": "Yes", "reasoning_content": ""}


@pytest.mark.parametrize(
    ("retention", "mark"), [(None, {"type": "ephemeral"}), ("long", {"type": "ephemeral", "ttl": "1h"})]
)
async def test_cache_control_format(make_model, chat, payload_of, read_tool, retention, mark):
    model = make_model(compat={"cacheControlFormat": "anthropic"})
    body = await payload_of(model, chat.user("a"), system="S", tools=[read_tool], cache_retention=retention)

    assert body["messages"][0]["content"] == [{"type": "text", "text": "S", "cache_control": mark}]
    assert body["messages"][1]["content"] == [{"type": "text", "text": "a", "cache_control": mark}]
    assert body["tools"][0]["cache_control"] == mark


async def test_cache_control_goes_to_the_last_text_there_is(make_model, chat, payload_of):
    model = make_model(compat={"cacheControlFormat": "anthropic"})
    answer = chat.answer(model, chat.call("c1", "read", {}))
    body = await payload_of(model, chat.user("a"), answer, chat.result("c1", "ok"))
    off = await payload_of(model, chat.user("a"), cache_retention="none")

    assert body["messages"][2]["content"] == [{"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}}]
    assert "cache_control" not in off["messages"][0]["content"][0]


@pytest.mark.parametrize(
    ("compat", "expected"),
    [
        ({}, {}),
        (
            {"sendSessionAffinityHeaders": True},
            {"session_id": "s1", "x-client-request-id": "s1", "x-session-affinity": "s1"},
        ),
        (
            {"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openai-nosession"},
            {"x-client-request-id": "s1", "x-session-affinity": "s1"},
        ),
        ({"sendSessionAffinityHeaders": True, "sessionAffinityFormat": "openrouter"}, {"x-session-id": "s1"}),
    ],
)
async def test_session_affinity_headers(make_model, chat, ask, compat, expected):
    from pi_testing.fake_servers.openai import FakeOpenAI, completion, text

    async with FakeOpenAI() as server:
        server.answers(completion(text("Hi")))
        await ask(make_model(base_url=server.base_url, compat=compat), chat.user("a"), session_id="s1")

    sent = {name: value for name, value in server.request.headers.items() if "session" in name or "client-req" in name}
    assert sent == expected


async def test_supports_finish_reason(make_model, chat, reply):
    from pi_testing.fake_servers.openai import FakeOpenAI, completion, text

    async with FakeOpenAI() as server:
        server.answers(completion(text("Hi"), finish=None))
        model = make_model(base_url=server.base_url, compat={"supportsFinishReason": False})
        message = await reply(model, chat.user("a"))

    assert (message.text, message.stop_reason) == ("Hi", "stop")


NOT_STANDARD = {"supportsStore": False}
PLAIN = {**NOT_STANDARD, "supportsReasoningEffort": False, "maxTokensField": "max_tokens"}


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        (
            "https://api.openai.com/v1",
            {"promptCacheKeyMode": "session", "supportsStructuredOutput": True, "supportsDeveloperRole": True},
        ),
        ("https://mine.openai.azure.com/openai/v1", {"supportsDeveloperRole": True}),
        ("https://api.cerebras.ai/v1", NOT_STANDARD),
        (
            "https://api.x.ai/v1",
            {**NOT_STANDARD, "supportsReasoningEffort": False, "supportsStructuredOutput": True},
        ),
        ("https://llm.chutes.ai/v1", {**NOT_STANDARD, "maxTokensField": "max_tokens"}),
        (
            "https://api.deepseek.com",
            {
                **NOT_STANDARD,
                "maxTokensField": "max_tokens",
                "thinkingFormat": "deepseek",
                "requiresReasoningContentOnAssistantMessages": True,
            },
        ),
        ("https://api.z.ai/api/coding/paas/v4", {**PLAIN, "thinkingFormat": "zai"}),
        ("https://open.bigmodel.cn/api/coding/paas/v4", {**PLAIN, "thinkingFormat": "zai"}),
        ("https://opencode.ai/zen/v1", NOT_STANDARD),
        ("https://integrate.api.nvidia.com/v1", {**PLAIN, "supportsLongCacheRetention": False}),
        ("https://api.together.ai/v1", {**PLAIN, "supportsLongCacheRetention": False, "thinkingFormat": "together"}),
        ("https://api.moonshot.ai/v1", PLAIN),
        (
            "https://api.cloudflare.com/client/v4/accounts/a/ai/v1",
            {**NOT_STANDARD, "supportsLongCacheRetention": False},
        ),
        ("https://gateway.ai.cloudflare.com/v1/a/g/compat", {**PLAIN, "supportsLongCacheRetention": False}),
        ("https://api.ant-ling.com/v1", {**PLAIN, "supportsLongCacheRetention": False, "thinkingFormat": "ant-ling"}),
        (
            "https://openrouter.ai/api/v1",
            {
                "thinkingFormat": "openrouter",
                "sendSessionAffinityHeaders": True,
                "sessionAffinityFormat": "openrouter",
            },
        ),
        ("https://api.groq.com/openai/v1", {}),
        ("http://localhost:11434/v1", {}),
        ("https://notcerebras.ai.example/v1", {}),
        ("", {}),
        ("http://[broken", {}),
    ],
)
def test_hosts_are_known_by_their_address(make_model, base_url, expected):
    found = compat_of(make_model(base_url=base_url))

    assert {name: value for name, value in found.items() if value != DEFAULTS[name]} == expected


@pytest.mark.parametrize("base_url", ["https://api.moonshot.ai/v1", "https://openrouter.ai/api/v1", "http://proxy/v1"])
async def test_kimi_gets_reasoning_content_with_every_call(make_model, chat, payload_of, base_url):
    kimi = make_model(base_url=base_url, id="moonshotai/Kimi-K2.6", reasoning=True)
    other = make_model(provider="other", id="gpt")
    prompt = (chat.user("a"), chat.answer(other, chat.call("c1", "read")), chat.result("c1", "ok"), chat.user("b"))
    body = await payload_of(kimi, *prompt)

    assert [each.get("reasoning_content") for each in body["messages"]] == [None, "", None, None]


FORCED = {"type": "function", "function": {"name": "read"}}


@pytest.mark.parametrize("choice", ["required", "any", {"type": "tool", "name": "read"}])
@pytest.mark.parametrize(
    ("thinking_format", "off"),
    [("deepseek", {"thinking": {"type": "disabled"}}), ("qwen", {"enable_thinking": False})],
)
async def test_a_forced_call_turns_thinking_off_where_the_host_refuses_both(
    make_model, chat, payload_of, read_tool, thinking_format, off, choice
):
    model = make_model(reasoning=True, compat={"thinkingFormat": thinking_format})
    asked = {"tools": [read_tool], "tool_choice": choice, "reasoning": "high"}
    body = await payload_of(model, chat.user("a"), **asked)
    always = evolve(model, thinking_level_map={"off": None})
    thinks = await payload_of(always, chat.user("a"), **asked)

    assert body["tool_choice"] in ("required", FORCED)
    assert {name: body[name] for name in ("thinking", "enable_thinking", "reasoning_effort") if name in body} == off
    assert thinks["tool_choice"] == "auto"
    assert thinks["reasoning_effort"] == "high"


async def test_thinking_stays_where_no_call_is_forced(make_model, chat, payload_of, read_tool):
    model = make_model(reasoning=True, compat={"thinkingFormat": "deepseek"})
    body = await payload_of(model, chat.user("a"), tools=[read_tool], tool_choice="auto", reasoning="high")

    assert (body["tool_choice"], body["thinking"]) == ("auto", {"type": "enabled"})


def test_the_models_data_win_over_the_hosts_defaults(make_model):
    model = make_model(provider="deepseek", compat={"thinkingFormat": "openai", "supportsStore": None})

    found = compat_of(model)

    assert (found["thinkingFormat"], found["supportsStore"]) == ("openai", False)


def test_openrouter_knows_roles_and_marks_by_vendor(make_model):
    claude = compat_of(make_model(provider="openrouter", id="anthropic/claude"))
    gpt = compat_of(make_model(provider="openrouter", id="openai/gpt"))

    assert (claude["supportsDeveloperRole"], claude["cacheControlFormat"]) == (True, "anthropic")
    assert (gpt["supportsDeveloperRole"], gpt["cacheControlFormat"]) == (True, None)


def test_every_flag_of_the_contract_has_a_default():
    contract = """
        supportsStore supportsDeveloperRole supportsReasoningEffort reasoningEffortMap supportsUsageInStreaming
        maxTokensField requiresToolResultName requiresAssistantAfterToolResult requiresThinkingAsText
        thinkingFormat openRouterRouting vercelGatewayRouting supportsStrictMode supportsFinishReason
        requiresNonNullAssistantContent requiresToolsWithToolHistory requiresReasoningContentOnAssistantMessages
        chatTemplateKwargs chatTemplateArgs zaiToolStream thinkingTokenBudgetField supportsThinkingTokenBudget
        supportsOpenAIGrammarTools supportsMidConvoSystemMessages supportsMidConvoToolAdditions
        cacheControlFormat sendSessionAffinityHeaders sessionAffinityFormat promptCacheKeyMode
        supportsLongCacheRetention vllmPriority supportsStructuredOutput
    """

    assert set(contract.split()) == set(DEFAULTS)
