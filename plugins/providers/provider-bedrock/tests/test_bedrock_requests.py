"""Our conversation as ConverseStream's input: messages, tools, thinking and cache points."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from pi_hookspecs import (
    AssistantMessage,
    ImageContent,
    SystemMessage,
    TextContent,
    ThinkingContent,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
NOVA = "amazon.nova-pro-v1:0"
POINT = {"cachePoint": {"type": "default"}}
PIXEL = ImageContent("aGk=", "image/png")
IMAGE = {"image": {"format": "png", "source": {"bytes": "aGk="}}}


def user(*content):
    return UserMessage(content=content[0] if isinstance(content[0], str) else content, timestamp=1)


def answer(*content, model=CLAUDE, **fields):
    known = {"api": "bedrock-converse-stream", "provider": "amazon-bedrock", "model": model}
    return AssistantMessage(content=content, timestamp=1, **{**known, **fields})


def result(call_id, *content, is_error=False):
    return ToolResultMessage(tool_call_id=call_id, tool_name="read", content=content, is_error=is_error, timestamp=1)


def plain(payload):
    """Return the messages as ``(role, content)``, without cache points."""
    return [
        (each["role"], [block for block in each["content"] if "cachePoint" not in block])
        for each in payload["messages"]
    ]


# Messages


def test_a_question_is_a_text_block(payload_of):
    assert plain(payload_of(user("Hello"))) == [("user", [{"text": "Hello"}])]


def test_neighbours_of_one_role_become_one_message(payload_of):
    payload = payload_of(user("One"), user("Two"), answer(TextContent("A")), answer(TextContent("B")), user("Three"))

    assert plain(payload) == [
        ("user", [{"text": "One"}, {"text": "Two"}]),
        ("assistant", [{"text": "A"}, {"text": "B"}]),
        ("user", [{"text": "Three"}]),
    ]


def test_results_of_one_answer_and_the_users_text_share_a_message(payload_of):
    payload = payload_of(
        user("Look."),
        answer(ToolCall("t1", "read", {"path": "a"}), ToolCall("t2", "read", {})),
        result("t1", TextContent("A")),
        result("t2", TextContent("gone"), is_error=True),
        user("And?"),
    )
    role, content = plain(payload)[2]

    assert role == "user"
    assert content == [
        {"toolResult": {"toolUseId": "t1", "content": [{"text": "A"}], "status": "success"}},
        {"toolResult": {"toolUseId": "t2", "content": [{"text": "gone"}], "status": "error"}},
        {"text": "And?"},
    ]


@pytest.mark.parametrize("content", [(), (TextContent(""),), (TextContent(" \n"),)])
def test_a_result_without_text_says_so(payload_of, content):
    payload = payload_of(user("Look."), answer(ToolCall("t1", "read", {})), result("t1", *content))

    assert plain(payload)[2][1][0]["toolResult"]["content"] == [{"text": "(no tool output)"}]


def test_blank_texts_are_left_out(payload_of):
    payload = payload_of(
        user("One"), answer(TextContent(" \n"), TextContent("A")), user(TextContent(" "), TextContent("Two")), user(" ")
    )

    assert plain(payload) == [
        ("user", [{"text": "One"}]),
        ("assistant", [{"text": "A"}]),
        ("user", [{"text": "Two"}]),
    ]


def test_ids_of_others_become_ids_of_this_api(payload_of):
    foreign = answer(ToolCall("call:1|fc.2", "read", {}), api="openai-responses")
    payload = payload_of(user("Look."), foreign, result("call:1|fc.2", TextContent("A")))

    assert plain(payload)[1][1][0]["toolUse"]["toolUseId"] == "call_1_fc_2"
    assert plain(payload)[2][1][0]["toolResult"]["toolUseId"] == "call_1_fc_2"


def test_later_system_messages_join_the_prompt(payload_of):
    payload = payload_of(user("One"), SystemMessage(content="Be kind.", timestamp=1), system_prompt="Be brief.")

    assert payload["system"] == [{"text": "Be brief.\n\nBe kind."}, POINT]


# Images


@pytest.mark.parametrize(
    ("mime", "prompt"), [("image/jpeg", "jpeg"), ("image/JPG", "jpeg"), ("image/gif", "gif"), ("image/webp", "webp")]
)
def test_images_have_the_format_of_their_type(payload_of, mime, prompt):
    payload = payload_of(user(TextContent("See."), ImageContent("aGk=", mime)))

    assert plain(payload)[0][1][1] == {"image": {"format": prompt, "source": {"bytes": "aGk="}}}


def test_an_image_that_the_api_does_not_accept_is_reported(payload_of):
    payload = payload_of(user(ImageContent("aGk=", "image/tiff")))

    assert plain(payload)[0][1] == [{"text": "(image omitted: the API does not accept image/tiff)"}]


def test_images_of_a_result_stay_in_it(payload_of):
    payload = payload_of(user("Look."), answer(ToolCall("t1", "read", {})), result("t1", PIXEL))

    assert plain(payload)[2][1][0]["toolResult"]["content"] == [{"text": "(see attached image)"}, IMAGE]


def test_images_of_a_failed_call_follow_the_results_for_claude(payload_of):
    prompt = (
        user("Look."),
        answer(ToolCall("t1", "read", {}), ToolCall("t2", "read", {})),
        result("t1", TextContent("Broken"), PIXEL, is_error=True),
        result("t2", TextContent("Fine")),
    )
    claude = plain(payload_of(*prompt))[2][1]
    nova = plain(payload_of(*prompt, model_fields={"id": NOVA}))[2][1]

    assert [next(iter(block)) for block in claude] == ["toolResult", "toolResult", "text", "image"]
    assert claude[2] == {"text": "Attached image(s) from tool result:"}
    assert nova[0]["toolResult"]["content"] == [{"text": "Broken"}, IMAGE]


# Thinking that goes back


def test_thinking_goes_back_with_its_signature_to_the_same_claude(payload_of):
    message = answer(ThinkingContent("Hm.", "c2ln"), ThinkingContent("", "b3BhcXVl", redacted=True), TextContent("So."))
    payload = payload_of(user("One"), message, user("Two"))

    assert plain(payload)[1][1] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "b3BhcXVl"}},
        {"text": "So."},
    ]


def test_thinking_of_another_model_is_dropped(payload_of):
    message = answer(ThinkingContent("Hm.", "c2ln"), TextContent("So."), model="us.anthropic.claude-opus-5")

    assert plain(payload_of(user("One"), message, user("Two")))[1][1] == [{"text": "So."}]


def test_unsigned_thinking_becomes_text_for_claude(payload_of):
    message = answer(ThinkingContent("Hm."), TextContent("So."))

    assert plain(payload_of(user("One"), message, user("Two")))[1][1] == [{"text": "Hm."}, {"text": "So."}]


def test_other_models_get_their_thinking_without_signature(payload_of):
    message = answer(ThinkingContent("Hm.", "c2ln"), TextContent("So."), model="deepseek.v3-v1:0")
    payload = payload_of(user("One"), message, user("Two"), model_fields={"id": "deepseek.v3-v1:0"})

    assert plain(payload)[1][1][0] == {"reasoningContent": {"reasoningText": {"text": "Hm."}}}


# Thinking that is asked for


@pytest.mark.parametrize(
    ("level", "fields"),
    [
        (None, {"thinking": {"type": "disabled"}}),
        ("low", {"thinking": {"type": "enabled", "budget_tokens": 2048, "display": "summarized"}}),
        ("high", {"thinking": {"type": "enabled", "budget_tokens": 16_384, "display": "summarized"}}),
        ("max", {"thinking": {"type": "enabled", "budget_tokens": 16_384, "display": "summarized"}}),
    ],
)
def test_claude_thinks_by_budget(payload_of, level, fields):
    payload = payload_of(user("Hi"), model_fields={"reasoning": True, "max_tokens": 64_000}, reasoning=level)
    sent = payload["additionalModelRequestFields"]
    beta = sent.pop("anthropic_beta", None)

    assert sent == fields
    assert beta == (["interleaved-thinking-2025-05-14"] if level else None)


def test_the_budget_comes_on_top_of_the_answer(payload_of):
    fields = {"reasoning": True, "max_tokens": 64_000}
    payload = payload_of(user("Hi"), model_fields=fields, reasoning="low", max_tokens=1000)

    assert payload["inferenceConfig"] == {"maxTokens": 3048}


def test_claude_thinks_by_effort_where_its_data_says_so(payload_of):
    fields = {"reasoning": True, "compat": {"forceAdaptiveThinking": True}, "thinking_level_map": {"max": "max"}}
    payload = payload_of(user("Hi"), model_fields=fields, reasoning="max")

    assert payload["additionalModelRequestFields"] == {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "max"},
    }


ARN = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"


@pytest.mark.parametrize(
    ("model_id", "name"),
    [
        ("anthropic.claude-opus-4-6-v1", "Fake"),
        ("us.anthropic.claude-opus-4-7", "Fake"),
        ("global.anthropic.claude-opus-4-8-20260601-v1:0", "Fake"),
        ("anthropic.claude-opus-5", "Fake"),
        ("eu.anthropic.claude-sonnet-4-6", "Fake"),
        ("anthropic.claude-sonnet-5-5", "Fake"),
        ("anthropic.claude-fable-5", "Fake"),
        (ARN, "Claude Opus 4.6 for us"),
        (ARN, "CLAUDE_SONNET_4.6"),
        (ARN, "Opus  4:7"),
    ],
)
def test_claude_thinks_by_effort_where_its_id_or_name_says_so(payload_of, model_id, name):
    fields = {"id": model_id, "name": name, "reasoning": True}
    payload = payload_of(user("Hi"), model_fields=fields, reasoning="high")

    assert payload["additionalModelRequestFields"] == {
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "high"},
    }


@pytest.mark.parametrize("name", ["Claude Opus 4.5", "Claude Sonnet 4.5", "Claude Haiku 4.5"])
def test_older_claudes_think_by_budget(payload_of, name):
    payload = payload_of(user("Hi"), model_fields={"id": ARN, "name": name, "reasoning": True}, reasoning="low")

    assert payload["additionalModelRequestFields"]["thinking"]["type"] == "enabled"


def test_the_effort_levels_of_the_model_data_win(payload_of):
    fields = {"id": "anthropic.claude-opus-4-6-v1", "reasoning": True, "compat": {"forceAdaptiveThinking": False}}
    payload = payload_of(user("Hi"), model_fields=fields, reasoning="low")

    assert payload["additionalModelRequestFields"]["thinking"]["type"] == "enabled"


@pytest.mark.parametrize("model_id", [NOVA, "deepseek.v3-v1:0", "openai.gpt-oss-120b-1:0"])
def test_no_other_model_is_asked_to_think(payload_of, model_id):
    payload = payload_of(user("Hi"), model_fields={"id": model_id, "reasoning": True}, reasoning="high")

    assert "additionalModelRequestFields" not in payload


@pytest.mark.parametrize(
    ("fields", "region"),
    [
        ({"id": "us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0"}, None),
        ({"id": "arn:aws-us-gov:bedrock:us-gov-west-1::inference-profile/us-gov.anthropic.claude-opus-4-6-v1"}, None),
        ({"id": "anthropic.claude-opus-4-6-v1"}, "us-gov-east-1"),
        ({"base_url": "https://bedrock-runtime.us-gov-west-1.amazonaws.com"}, None),
    ],
)
def test_the_government_s_regions_are_not_asked_for_display(payload_of, aws, fields, region):
    aws(region=region)
    payload = payload_of(user("Hi"), model_fields={**fields, "reasoning": True}, reasoning="low")

    assert "display" not in payload["additionalModelRequestFields"]["thinking"]


async def test_a_tool_that_requires_strictness_in_vain_is_named(ask, context, tool):
    reply = await ask(context(tools=(evolve(tool(), constrained_sampling="require"),)))

    assert reply.error.startswith("Tool 'read' requires constrained sampling, but API 'bedrock-converse-stream'")


def test_a_model_s_own_fields_win(payload_of):
    fields = {"extra": {"samplingParams": {"temperature": 1, "topP": 0.9}}}
    limits = payload_of(user("Hi"), model_fields=fields, temperature=0.5)["inferenceConfig"]

    assert (limits["temperature"], limits["topP"]) == (1, 0.9)


def test_temperature_is_dropped_while_thinking(payload_of):
    fields = {"reasoning": True, "max_tokens": 64_000}
    thinking = payload_of(user("Hi"), model_fields=fields, reasoning="low", temperature=0.5)
    plain_answer = payload_of(user("Hi"), model_fields=fields, temperature=0.5)

    assert "temperature" not in thinking["inferenceConfig"]
    assert plain_answer["inferenceConfig"]["temperature"] == 0.5


def test_thinking_yields_to_a_forced_call(payload_of, tool):
    fields = {"reasoning": True, "max_tokens": 64_000}
    payload = payload_of(user("Hi"), model_fields=fields, tools=[tool()], reasoning="low", tool_choice="required")

    assert payload["toolConfig"]["toolChoice"] == {"any": {}}
    assert payload["additionalModelRequestFields"] == {"thinking": {"type": "disabled"}}


# Cache points


@pytest.mark.parametrize(
    ("retention", "point"),
    [(None, POINT), ("short", POINT), ("long", {"cachePoint": {"type": "default", "ttl": "1h"}}), ("none", None)],
)
def test_cache_points_follow_the_prompt_and_the_last_user_message(payload_of, retention, point):
    payload = payload_of(
        user("One"), answer(TextContent("A")), user("Two"), system_prompt="Be brief.", cache_retention=retention
    )
    more = [] if point is None else [point]

    assert payload["system"] == [{"text": "Be brief."}, *more]
    assert payload["messages"][0]["content"] == [{"text": "One"}]
    assert payload["messages"][2]["content"] == [{"text": "Two"}, *more]


@pytest.mark.parametrize(
    "model_id", [NOVA, "anthropic.claude-3-haiku-20240307-v1:0", "meta.llama3-3-70b-instruct-v1:0"]
)
def test_models_that_cannot_cache_get_no_cache_points(payload_of, model_id):
    payload = payload_of(user("One"), system_prompt="Be brief.", model_fields={"id": model_id, "name": "X"})

    assert "cachePoint" not in str(payload)


def test_compat_supplies_what_an_arn_does_not_say(payload_of):
    arn = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc"
    opaque = payload_of(user("One"), model_fields={"id": arn, "name": "Ours"})
    payload = payload_of(user("One"), model_fields={"id": arn, "name": "Ours", "compat": {"isClaude": True}})
    cached = payload_of(user("One"), model_fields={"id": NOVA, "compat": {"supportsPromptCaching": True}})

    assert "cachePoint" not in str(opaque)
    assert "cachePoint" in str(payload)
    assert "cachePoint" in str(cached)


# Tools


def test_tools_have_a_schema_and_a_description(payload_of, tool):
    payload = payload_of(user("Hi"), tools=[tool(), tool("now", {"type": "object"}, description="")])
    first, second = (each["toolSpec"] for each in payload["toolConfig"]["tools"])

    assert first == {
        "name": "read",
        "description": "Read a file.",
        "inputSchema": {
            "json": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
        },
    }
    assert second["description"] == "now"
    assert second["inputSchema"]["json"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("choice", "prompt"),
    [
        (None, None),
        ("auto", {"auto": {}}),
        ("any", {"any": {}}),
        ("required", {"any": {}}),
        ({"type": "tool", "name": "read"}, {"tool": {"name": "read"}}),
        ({"type": "function", "function": {"name": "read"}}, {"tool": {"name": "read"}}),
        ({"tool": {"name": "read"}}, {"tool": {"name": "read"}}),
        ({"type": "any"}, {"any": {}}),
    ],
)
def test_tool_choice_in_anybody_s_words(payload_of, tool, choice, prompt):
    payload = payload_of(user("Hi"), tools=[tool()], tool_choice=choice)

    assert payload["toolConfig"].get("toolChoice") == prompt


def test_no_tools_where_none_may_be_called(payload_of, tool):
    assert "toolConfig" not in payload_of(user("Hi"), tools=[tool()], tool_choice="none")
    assert "toolConfig" not in payload_of(user("Hi"))


def test_a_conversation_with_calls_always_has_tools(payload_of, tool):
    prompt = (user("Look."), answer(ToolCall("t1", "read", {})), result("t1", TextContent("A")))
    without = payload_of(*prompt)
    none = payload_of(*prompt, tools=[tool("other")], tool_choice="none")

    assert [each["toolSpec"]["name"] for each in without["toolConfig"]["tools"]] == ["read"]
    assert [each["toolSpec"]["name"] for each in none["toolConfig"]["tools"]] == ["other"]


def test_names_that_the_api_does_not_take_are_replaced(payload_of, tool):
    prompt = (user("Look."), answer(ToolCall("t1", "my.tool", {})), result("t1", TextContent("A")))
    payload = payload_of(*prompt, tools=[tool("my.tool"), tool("my_tool")])

    assert [each["toolSpec"]["name"] for each in payload["toolConfig"]["tools"]] == ["my_tool_2", "my_tool"]
    assert plain(payload)[1][1][0]["toolUse"]["name"] == "my_tool_2"


SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}, "required": ["name"]}


def test_an_answer_of_a_claude_that_can_is_held_to_a_schema(payload_of):
    text_format = payload_of(user("Hi"), model_fields={"id": CLAUDE}, output_schema=SCHEMA)["outputConfig"][
        "textFormat"
    ]

    assert text_format["type"] == "json_schema"
    assert json.loads(text_format["structure"]["jsonSchema"]["schema"]) == {
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "required": ["name"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("model_id", [NOVA, "anthropic.claude-3-5-haiku-20241022-v1:0"])
def test_other_models_are_asked_for_no_schema(payload_of, model_id):
    assert "outputConfig" not in payload_of(user("Hi"), model_fields={"id": model_id}, output_schema=SCHEMA)
