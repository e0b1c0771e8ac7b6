"""What is sent, as literal JSON, for each row of what was observed on the wire."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    StreamOptions,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_provider_anthropic.compat import Compat
from pi_provider_anthropic.identity import ToolNames, is_oauth
from pi_provider_anthropic.payload import to_payload
from pi_provider_kit import strict_schema
from pi_testing.fake_servers.anthropic import message, text

EPHEMERAL = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
FIREWORKS = Compat(
    eager_tool_input=False, tool_cache=False, long_cache=False, session_affinity=True, empty_signature=True
)
PNG = ImageContent("aGk=", "image/png")


@pytest.fixture
def payload(model, context):
    """Make the body for messages; what is not given is plain."""

    def make(*messages, model_fields=None, tools=(), system_prompt="", **options):
        asked = model(**(model_fields or {}))
        options = StreamOptions(**{"api_key": "k", **options})
        names = ToolNames(tools, asked, claude_code=is_oauth(options.api_key))
        prompt = context(*messages, tools=tuple(tools), system_prompt=system_prompt)
        return to_payload(asked, prompt, options, Compat.of(asked), names)

    return make


def user(content, timestamp=1):
    return UserMessage(content=content, timestamp=timestamp)


def answer(*content, **fields):
    known = {"api": "anthropic-messages", "provider": "anthropic", "model": "claude-fake", "timestamp": 2}
    return AssistantMessage(content=content, **{**known, **fields})


def result(call_id="toolu_1", *content, is_error=False):
    blocks = content or (TextContent("done"),)
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=blocks, is_error=is_error, timestamp=3)


def test_plain_question_of_a_model_that_does_not_reason(payload):
    assert payload(cache_retention="none") == {
        "model": "claude-fake",
        "max_tokens": 8192,
        "messages": [{"role": "user", "content": "hi"}],
        "stream": True,
    }


def test_cache_marks_are_on_system_last_tool_and_last_user_block(payload, tool):
    body = payload(
        user("first"),
        answer(TextContent("yes")),
        user("hi"),
        system_prompt="Be brief.",
        tools=[tool("read"), tool("write")],
    )

    assert body["system"] == [{"type": "text", "text": "Be brief.", "cache_control": EPHEMERAL}]
    assert [each.get("cache_control") for each in body["tools"]] == [None, EPHEMERAL]
    assert body["messages"] == [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": EPHEMERAL}]},
    ]


def test_a_cache_mark_may_be_on_a_tool_result(payload):
    body = payload(user("go"), answer(ToolCall("toolu_1", "read", {"path": "a"})), result())

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}}],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_1",
                    "content": "done",
                    "is_error": False,
                    "cache_control": EPHEMERAL,
                }
            ],
        },
    ]


def test_long_retention_lives_an_hour_on_any_host_that_does_not_say_otherwise(payload):
    body = payload(cache_retention="long", system_prompt="s", model_fields={"base_url": "https://proxy.test"})
    refused = payload(cache_retention="long", model_fields={"compat": {"supportsLongCacheRetention": False}})

    assert body["system"][0]["cache_control"] == HOUR
    assert body["messages"][-1]["content"][-1]["cache_control"] == HOUR
    assert refused["messages"][-1]["content"][-1]["cache_control"] == EPHEMERAL


def test_tools_take_no_mark_where_the_host_refuses_it(payload, tool):
    body = payload(tools=[tool()], model_fields={"compat": {"supportsCacheControlOnTools": False}})

    assert "cache_control" not in body["tools"][-1]


def test_tools_stream_their_input_eagerly(payload, tool):
    assert payload(tools=[tool()], cache_retention="none")["tools"] == [
        {
            "name": "read",
            "description": "Read a file.",
            "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
            "eager_input_streaming": True,
        }
    ]


async def test_host_without_eager_streaming_gets_the_beta_header(ask, server, context, tool):
    server.answers(message(text("ok")))
    await ask(context(tools=(tool(),)), {"compat": {"supportsEagerToolInputStreaming": False}})

    assert "eager_input_streaming" not in server.request.json["tools"][0]
    assert server.request.headers["anthropic-beta"] == "fine-grained-tool-streaming-2025-05-14"


async def test_request_goes_to_the_beta_path_with_key_and_version(ask, server):
    server.answers(message(text("ok")))
    await ask()

    assert (server.request.path, server.request.query) == ("/v1/messages", "beta=true")
    assert server.request.headers["x-api-key"] == "sk-ant-api03-secret-0123456789"
    assert server.request.headers["anthropic-version"] == "2023-06-01"
    assert server.request.headers["user-agent"].startswith("pi/")
    assert "anthropic-beta" not in server.request.headers


@pytest.mark.parametrize("base", ["", "/", "/v1", "/v1/"])
async def test_base_url_may_end_in_v1(ask, server, base):
    server.answers(message(text("ok")))
    reply = await ask(model_fields={"base_url": server.url + base})

    assert reply.message.text == "ok"


async def test_budget_thinking_keeps_a_kilotoken_for_the_answer(ask, server):
    server.answers(message(text("ok")))
    await ask(model_fields={"reasoning": True}, reasoning="high")

    assert server.request.json["thinking"] == {"type": "enabled", "budget_tokens": 7168, "display": "summarized"}
    assert server.request.json["max_tokens"] == 8192
    assert server.request.headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"


@pytest.mark.parametrize(
    ("level", "most", "expected"),
    [
        ("minimal", 64_000, (64_000, 1024)),
        ("low", 64_000, (64_000, 2048)),
        ("medium", 64_000, (64_000, 8192)),
        ("high", 64_000, (64_000, 16_384)),
        ("max", 64_000, (64_000, 16_384)),
        ("low", 1024, None),
    ],
)
def test_budgets(payload, level, most, expected):
    body = payload(
        reasoning=level, model_fields={"reasoning": True, "max_tokens": most, "thinking_level_map": {"max": "max"}}
    )

    if expected is None:
        assert body["thinking"] == {"type": "disabled"}
    else:
        assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == expected


def test_thinking_comes_on_top_of_the_tokens_asked_for(payload):
    body = payload(reasoning="medium", max_tokens=1000, model_fields={"reasoning": True, "max_tokens": 64_000})

    assert (body["max_tokens"], body["thinking"]["budget_tokens"]) == (9192, 8192)


def test_own_budgets_count_and_are_never_below_what_the_api_takes(payload):
    fields = {"reasoning": True, "max_tokens": 64_000}

    assert payload(reasoning="low", thinking_budgets={"low": 5000}, model_fields=fields)["thinking"][
        "budget_tokens"
    ] == (5000)
    assert payload(reasoning="low", thinking_budgets={"low": 10}, model_fields=fields)["thinking"]["budget_tokens"] == (
        1024
    )


@pytest.mark.parametrize("level", ["off", None])
def test_disabled_thinking_is_sent_as_disabled(payload, level):
    assert payload(reasoning=level, model_fields={"reasoning": True})["thinking"] == {"type": "disabled"}


def test_a_model_without_reasoning_gets_no_thinking_options(payload):
    assert "thinking" not in payload(reasoning="high")


async def test_adaptive_thinking_has_an_effort_and_no_beta_header(ask, server):
    server.answers(message(text("ok")))
    await ask(model_fields={"reasoning": True, "compat": {"forceAdaptiveThinking": True}}, reasoning="minimal")

    assert server.request.json["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert server.request.json["output_config"] == {"effort": "low"}
    assert "anthropic-beta" not in server.request.headers


@pytest.mark.parametrize(
    ("level", "levels", "effort"),
    [
        ("medium", None, "medium"),
        ("high", None, "high"),
        ("xhigh", {"xhigh": "xhigh"}, "xhigh"),
        ("xhigh", {"max": "max"}, "max"),
        ("max", None, "high"),
        (None, {"off": None}, "low"),
        ("low", {"low": "medium"}, "medium"),
    ],
)
def test_efforts_follow_the_model_s_map(payload, level, levels, effort):
    fields = {"reasoning": True, "thinking_level_map": levels, "compat": {"forceAdaptiveThinking": True}}

    assert payload(reasoning=level, model_fields=fields)["output_config"] == {"effort": effort}


def test_a_model_s_own_fields_win(payload):
    body = payload(temperature=0.5, model_fields={"extra": {"samplingParams": {"temperature": 1, "top_k": 3}}})

    assert (body["temperature"], body["top_k"]) == (1, 3)


def test_temperature_is_dropped_while_thinking_and_where_it_is_not_taken(payload):
    reasons = {"reasoning": True}

    assert payload(temperature=0.5)["temperature"] == 0.5
    assert payload(temperature=0.5, model_fields=reasons)["temperature"] == 0.5
    assert "temperature" not in payload(temperature=0.5, reasoning="low", model_fields=reasons)
    assert "temperature" not in payload(temperature=0.5, model_fields={"compat": {"supportsTemperature": False}})


def test_output_limit_leaves_room_for_the_context(payload):
    fields = {"context_window": 20_000, "max_tokens": 16_000}

    assert payload(user("x" * 40_000), model_fields=fields)["max_tokens"] == 20_000 - 10_000 - 4096
    assert payload(max_tokens=100, model_fields=fields)["max_tokens"] == 100


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", {"type": "auto"}),
        ("any", {"type": "any"}),
        ("required", {"type": "any"}),
        ("none", {"type": "none"}),
        ({"type": "tool", "name": "read"}, {"type": "tool", "name": "read"}),
        ({"type": "function", "function": {"name": "read"}}, {"type": "tool", "name": "read"}),
        (
            {"type": "auto", "disable_parallel_tool_use": True},
            {"type": "auto", "disable_parallel_tool_use": True},
        ),
    ],
)
def test_tool_choice(payload, tool, choice, sent):
    assert payload(tools=[tool()], tool_choice=choice)["tool_choice"] == sent


def test_tool_choice_is_not_sent_without_tools(payload):
    assert "tool_choice" not in payload(tool_choice="any")


def test_forced_call_turns_thinking_off_or_yields_where_it_cannot_be(payload, tool):
    asked = {"tools": [tool()], "tool_choice": "any", "reasoning": "low"}
    forced = payload(**asked, model_fields={"reasoning": True})
    yielding = payload(
        **asked,
        model_fields={
            "reasoning": True,
            "thinking_level_map": {"off": None},
            "compat": {"forceAdaptiveThinking": True},
        },
    )

    assert (forced["tool_choice"], forced["thinking"]) == ({"type": "any"}, {"type": "disabled"})
    assert (yielding["tool_choice"], yielding["thinking"]["type"]) == ({"type": "auto"}, "adaptive")


def test_images_are_sent_as_base64(payload):
    body = payload(user((TextContent("look"), PNG)), cache_retention="none")

    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


def test_image_of_a_type_that_the_api_refuses_becomes_a_line(payload):
    body = payload(user((TextContent("look"), ImageContent("aGk=", "image/bmp"))), cache_retention="none")

    assert body["messages"][0]["content"][1] == {
        "type": "text",
        "text": "(image omitted: the API does not accept image/bmp)",
    }


def test_images_of_a_result_stay_in_it_with_words_before_them(payload):
    body = payload(user("go"), answer(ToolCall("toolu_1", "read", {})), result("toolu_1", PNG), cache_retention="none")

    assert body["messages"][2]["content"][0]["content"] == [
        {"type": "text", "text": "(see attached image)"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


def test_images_of_a_failed_call_move_behind_the_results(payload):
    calls = answer(ToolCall("toolu_1", "read", {}), ToolCall("toolu_2", "read", {}))
    failed = result("toolu_1", TextContent("no"), PNG, is_error=True)
    body = payload(user("go"), calls, failed, result("toolu_2"), cache_retention="none")

    assert body["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "done", "is_error": False},
        {"type": "text", "text": "Attached image(s) from tool result:"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
    ]


def test_model_without_eyes_gets_a_line_instead_of_an_image(payload):
    body = payload(user((TextContent("look"), PNG)), model_fields={"input": ("text",)}, cache_retention="none")

    assert body["messages"][0]["content"][1]["text"] == "(image omitted: model does not support images)"


def test_thinking_of_this_model_is_replayed_with_its_signature(payload):
    body = payload(
        user("go"),
        answer(
            ThinkingContent("hm", thinking_signature="sig"),
            ThinkingContent("", thinking_signature="only"),
            ThinkingContent("", thinking_signature="opaque", redacted=True),
            ThinkingContent("broke off"),
            TextContent("so"),
        ),
        user("on"),
    )

    assert body["messages"][1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "thinking", "thinking": "", "signature": "only"},
        {"type": "redacted_thinking", "data": "opaque"},
        {"type": "text", "text": "broke off"},
        {"type": "text", "text": "so"},
    ]


def test_host_without_signatures_gets_thinking_back_as_thinking(payload):
    body = payload(
        user("go"),
        answer(ThinkingContent("hm"), TextContent("so")),
        user("on"),
        model_fields={"compat": {"allowEmptySignature": True}},
    )

    assert body["messages"][1]["content"][0] == {"type": "thinking", "thinking": "hm", "signature": ""}


def test_thinking_of_another_model_is_left_out_and_its_ids_are_made_ours(payload):
    foreign = answer(
        ThinkingContent("hm", thinking_signature="theirs"),
        ToolCall("call|fc.1", "read", {"path": "a"}),
        provider="openai",
        api="openai-responses",
        model="gpt",
    )
    body = payload(user("go"), foreign, result("call|fc.1"), cache_retention="none")

    assert body["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call_fc_1", "name": "read", "input": {"path": "a"}}
    ]
    assert body["messages"][2]["content"][0]["tool_use_id"] == "call_fc_1"


def test_results_of_one_batch_share_a_message_and_missing_ones_are_filled_in(payload):
    calls = answer(ToolCall("toolu_1", "read", {}), ToolCall("toolu_2", "read", {}))
    body = payload(user("go"), calls, result("toolu_1"), user("and?"), cache_retention="none")

    assert body["messages"][2:] == [
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "done", "is_error": False},
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": "No result provided", "is_error": True},
            ],
        },
        {"role": "user", "content": "and?"},
    ]


def test_blank_text_and_halves_of_characters_are_left_out(payload):
    body = payload(
        user("a\ud83d b"), answer(TextContent("  \n"), TextContent("ok")), user("  "), user("c"), cache_retention="none"
    )

    assert body["messages"] == [
        {"role": "user", "content": "a b"},
        {"role": "assistant", "content": [{"type": "text", "text": "ok"}]},
        {"role": "user", "content": "c"},
    ]


def test_system_messages_join_the_system_prompt_or_stay_where_they_are(payload):
    prompt = (user("go"), SystemMessage(content="Now in French."), user("on"))
    joined = payload(*prompt, system_prompt="Be brief.", cache_retention="none")
    kept = payload(
        *prompt,
        system_prompt="Be brief.",
        cache_retention="none",
        model_fields={"compat": {"supportsMidConvoSystemMessages": True}},
    )

    assert joined["system"][0]["text"] == "Be brief.\n\nNow in French."
    assert kept["system"][0]["text"] == "Be brief."
    assert kept["messages"][1] == {"role": "system", "content": "Now in French."}


def test_strict_tools_are_closed_and_schemas_that_cannot_be_are_left_alone(payload, tool):
    nested = {
        "type": "object",
        "properties": {
            "edits": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}
        },
    }
    bounded = {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}}
    asking = [evolve(each, constrained_sampling="prefer") for each in (tool("edit", nested), tool("read", bounded))]
    strict = {"compat": {"supportsStrictTools": True}}
    edit, read, free = payload(tools=[*asking, tool("free", nested)], model_fields=strict)["tools"]
    plain, *_ = payload(tools=asking)["tools"]

    assert edit["strict"] is True
    assert edit["input_schema"] == strict_schema(nested)
    assert not {"strict"} & {*read, *free, *plain}
    assert (read["input_schema"], free["input_schema"], plain["input_schema"]) == (bounded, nested, nested)


async def test_the_api_takes_strict_tools(ask, server, context, tool):
    server.answers(message(text("ok")))
    prompt = context(tools=(evolve(tool(), constrained_sampling="prefer"),))
    reply = await ask(prompt, {"compat": {"supportsStrictTools": True}})

    assert reply.message.error_message is None
    assert server.request.json["tools"][0]["strict"] is True


async def test_a_tool_that_requires_strictness_in_vain_is_named(ask, context, tool):
    reply = await ask(context(tools=(evolve(tool(), constrained_sampling="require"),)))

    assert reply.error.startswith("Tool 'read' requires constrained sampling, but API")


def test_tool_without_properties_still_has_an_object_schema(payload, tool):
    assert payload(tools=[tool("now", {"type": "object"})])["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {},
    }


def test_only_the_user_id_of_the_metadata_is_sent(payload):
    assert payload(metadata={"user_id": "u1", "other": 1})["metadata"] == {"user_id": "u1"}
    assert "metadata" not in payload(metadata={"other": 1})


async def test_payload_hook_may_replace_the_body(ask, server):
    async def replace(payload, model):
        return {**payload, "max_tokens": 5}

    server.answers(message(text("ok")))
    await ask(on_payload=replace)

    assert server.request.json["max_tokens"] == 5


async def test_session_affinity_is_sent_where_the_host_wants_it(ask, server):
    server.answers(*[message(text("ok"))] * 3)
    wanted = {"compat": {"sendSessionAffinityHeaders": True}}
    await ask(model_fields=wanted, session_id="s1")
    await ask(model_fields=wanted, session_id="s1", cache_retention="none")
    await ask(session_id="s1")

    assert [request.headers.get("x-session-affinity") for request in server.requests] == ["s1", None, None]


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [
        ("https://api.anthropic.com", Compat(structured_output=True)),
        ("https://API.fireworks.ai:443/inference", FIREWORKS),
        ("https://evil-api.fireworks.ai.test", Compat()),
        ("https://api.kimi.com/coding", Compat(adaptive=True, empty_signature=True)),
        ("https://ai-gateway.vercel.sh", Compat(empty_signature=True)),
        ("https://api.minimax.io/anthropic", Compat()),
        ("https://api.enterprise.githubcopilot.com", Compat(key_header="authorization")),
        ("https://bedrock-runtime.eu-west-1.amazonaws.com", Compat(transport="sdk", sdk_client="bedrock")),
    ],
)
def test_hosts_are_known_by_name(model, base_url, expected):
    assert Compat.of(model(base_url)) == expected


def test_switches_of_the_model_win_over_those_of_the_host(model):
    asked = model("https://api.fireworks.ai/inference", compat={"supportsCacheControlOnTools": True, "unknown": 1})

    assert Compat.of(asked).tool_cache is True


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 1}},
    "required": ["name"],
    "additionalProperties": False,
}
CLOSED = {**SCHEMA, "properties": {"name": {"type": "string"}}}
ANTHROPIC = {"base_url": "https://api.anthropic.com"}


def test_an_answer_is_held_to_a_schema_at_anthropic(payload):
    assert payload(model_fields=ANTHROPIC, output_schema=SCHEMA)["output_config"] == {
        "format": {"type": "json_schema", "schema": CLOSED}
    }


def test_an_answer_held_to_a_schema_is_thought_about(payload):
    fields = {**ANTHROPIC, "reasoning": True, "compat": {"forceAdaptiveThinking": True}}

    body = payload(model_fields=fields, output_schema=SCHEMA, reasoning="low")

    assert body["output_config"] == {"effort": "low", "format": {"type": "json_schema", "schema": CLOSED}}


@pytest.mark.parametrize(
    ("fields", "schema"),
    [
        ({}, SCHEMA),
        ({**ANTHROPIC, "compat": {"supportsStructuredOutput": False}}, SCHEMA),
        (ANTHROPIC, {"type": "object"}),
    ],
)
def test_a_host_or_a_schema_that_cannot_be_held_is_not_asked_for_it(payload, fields, schema):
    assert "output_config" not in payload(model_fields=fields, output_schema=schema)
