"""What is sent: turns, calls and results, images, signatures, tools."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_hookspecs import Tool
from pi_provider_kit import strict_schema

GEMINI_3 = "gemini-3-flash-preview"
SIGNATURE = "c2lnbmVk"


async def test_prompt_question_and_limit(make_model, chat, payload_of):
    model = make_model(max_tokens=4096)
    sent = await payload_of(model, chat.user("Hi"), system="Be brief.", temperature=0.5)

    assert sent == {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
        "generationConfig": {"maxOutputTokens": 4096, "temperature": 0.5},
    }


async def test_neighbours_of_one_role_are_one_turn(make_model, chat, payload_of):
    model = make_model()
    broken = chat.answer(model, chat.text("lost"), stop_reason="error")
    sent = await payload_of(
        model,
        chat.user("a"),
        broken,
        chat.user("b"),
        chat.answer(model, chat.text("c")),
        chat.answer(model, chat.text("d")),
    )

    assert sent["contents"] == [
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "c"}, {"text": "d"}]},
    ]


async def test_calls_and_results_of_older_models_have_no_ids(make_model, chat, payload_of):
    model = make_model(id="gemini-2.5-pro")
    sent = await payload_of(
        model,
        chat.user("a"),
        chat.answer(model, chat.call("c1", "read", {"path": "x"}), chat.call("c2", "ls")),
        chat.result("c1", "one", "two"),
        chat.result("c2", "no", name="ls", is_error=True),
        chat.user("b"),
    )

    assert sent["contents"][1:] == [
        {
            "role": "model",
            "parts": [
                {"functionCall": {"name": "read", "args": {"path": "x"}}},
                {"functionCall": {"name": "ls", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"output": "one\ntwo"}}},
                {"functionResponse": {"name": "ls", "response": {"error": "no"}}},
            ],
        },
        {"role": "user", "parts": [{"text": "b"}]},
    ]


@pytest.mark.parametrize("model_id", [GEMINI_3, "gemini-4-argon", "gemini-flash-latest"])
async def test_gemini_3_gets_ids_and_its_signatures(make_model, chat, payload_of, model_id):
    model = make_model(id=model_id)
    answer = chat.answer(
        model,
        chat.thinking("Hm.", SIGNATURE),
        chat.text("Let me see.", SIGNATURE),
        chat.call("c1", "read", {}, SIGNATURE),
        chat.call("c2", "read", {}),
    )
    sent = await payload_of(model, chat.user("a"), answer, chat.result("c1", "1"), chat.result("c2", "2"))

    assert sent["contents"][1]["parts"] == [
        {"text": "Hm.", "thought": True, "thoughtSignature": SIGNATURE},
        {"text": "Let me see.", "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "read", "args": {}, "id": "c1"}, "thoughtSignature": SIGNATURE},
        {"functionCall": {"name": "read", "args": {}, "id": "c2"}},
    ]
    assert [part["functionResponse"]["id"] for part in sent["contents"][2]["parts"]] == ["c1", "c2"]


async def test_a_call_of_another_model_is_marked_as_unsigned(make_model, chat, payload_of):
    other = make_model("anthropic-messages", id="claude", provider="anthropic")
    calls = (chat.call("toolu_1|x", "read", {}, "b3RoZXI="), chat.call("toolu_2", "read", {}))
    answer = chat.answer(other, chat.thinking("Hm.", "b3RoZXI="), *calls)
    results = (chat.result("toolu_1|x", "1"), chat.result("toolu_2", "2"))
    sent = await payload_of(make_model(id=GEMINI_3), chat.user("a"), answer, *results)

    first, second = sent["contents"][1]["parts"]
    assert first == {
        "functionCall": {"name": "read", "args": {}, "id": "toolu_1_x"},
        "thoughtSignature": "skip_thought_signature_validator",
    }
    assert "thoughtSignature" not in second


async def test_what_is_no_signature_of_google_is_left_out(make_model, chat, payload_of):
    model = make_model(id="gemini-2.5-pro")
    answer = chat.answer(model, chat.text("b", '{"v":1}'), chat.thinking("c", "five5"), chat.text("", "not one"))
    sent = await payload_of(model, chat.user("a"), answer, chat.user("d"))

    assert sent["contents"][1]["parts"] == [{"text": "b"}, {"text": "c", "thought": True}]


async def test_a_signature_with_an_empty_text_goes_back(make_model, chat, payload_of):
    model = make_model(id=GEMINI_3)
    answer = chat.answer(model, chat.text("Hello"), chat.text("", SIGNATURE), chat.text(" "))
    sent = await payload_of(model, chat.user("a"), answer, chat.user("b"))

    assert sent["contents"][1]["parts"] == [{"text": "Hello"}, {"text": "", "thoughtSignature": SIGNATURE}]


# Images


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        ("image/png", {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}),
        ("image/JPG", {"inlineData": {"mimeType": "image/jpeg", "data": "aW1n"}}),
        ("image/gif", {"text": "(image omitted: the API does not accept image/gif)"}),
    ],
)
async def test_images_of_the_user(make_model, chat, payload_of, kind, part):
    sent = await payload_of(make_model(input=("text", "image")), chat.user(chat.text("?"), chat.image(kind=kind)))

    assert sent["contents"] == [{"role": "user", "parts": [{"text": "?"}, part]}]


async def test_gemini_3_gets_images_within_the_result(make_model, chat, payload_of):
    model = make_model(id=GEMINI_3, input=("text", "image"))
    answer = chat.answer(model, chat.call("c1", "read", {}, SIGNATURE))
    sent = await payload_of(model, chat.user("a"), answer, chat.result("c1", chat.image()))

    assert sent["contents"][2:] == [
        {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "name": "read",
                        "response": {"output": "(see attached image)"},
                        "id": "c1",
                        "parts": [{"inlineData": {"mimeType": "image/png", "data": "aW1n"}}],
                    }
                }
            ],
        }
    ]


@pytest.mark.parametrize("model_id", ["m1", "gemma-4-31b-it", "gemini-pro-latest", "gemini-4-x", "claude-opus-4"])
async def test_whatever_is_no_gemini_1_or_2_gets_images_within_the_result(make_model, chat, payload_of, model_id):
    model = make_model(id=model_id, input=("text", "image"))
    answer = chat.answer(model, chat.call("c1", "read"))
    sent = await payload_of(model, chat.user("a"), answer, chat.result("c1", chat.image()))

    *_, last = sent["contents"]
    assert last["parts"][0]["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": "aW1n"}}]
    assert len(sent["contents"]) == 3


async def test_older_models_get_the_images_of_a_batch_behind_its_results(make_model, chat, payload_of):
    model = make_model(id="gemini-2.5-flash", input=("text", "image"))
    answer = chat.answer(model, chat.call("c1", "read"), chat.call("c2", "read"))
    results = (chat.result("c1", "one", chat.image("MQ==")), chat.result("c2", chat.image("Mg==")))
    sent = await payload_of(model, chat.user("a"), answer, *results, chat.user("b"))

    assert sent["contents"][2:] == [
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "read", "response": {"output": "one"}}},
                {"functionResponse": {"name": "read", "response": {"output": "(see attached image)"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"text": "Tool result image:"},
                {"inlineData": {"mimeType": "image/png", "data": "MQ=="}},
                {"inlineData": {"mimeType": "image/png", "data": "Mg=="}},
                {"text": "b"},
            ],
        },
    ]


# Tools


async def test_schemas_are_sent_as_they_are(make_model, chat, payload_of, read_tool):
    sent = await payload_of(make_model(), chat.user("a"), tools=[read_tool])

    declared = {"name": "read", "description": "Reads a file.", "parametersJsonSchema": dict(read_tool.parameters)}
    assert sent["tools"] == [{"functionDeclarations": [declared]}]
    assert "toolConfig" not in sent


@pytest.mark.parametrize("model_id", ["gemini-3-pro-preview", "gemini-3.1-flash", "gemini-live-3-flash", "gemini-4-x"])
async def test_tools_that_ask_are_held_to_their_schema_from_gemini_3_on(
    make_model, chat, payload_of, read_tool, model_id
):
    asking = evolve(read_tool, constrained_sampling="prefer")
    odd = evolve(asking, name="odd", parameters={"type": "object", "properties": {}, "additionalProperties": True})
    free = evolve(read_tool, name="free")
    sent = await payload_of(make_model(id=model_id), chat.user("a"), tools=[asking, odd, free])
    (declared,) = (tool["functionDeclarations"] for tool in sent["tools"])

    assert [each["parametersJsonSchema"] for each in declared] == [
        strict_schema(read_tool.parameters),
        odd.parameters,
        read_tool.parameters,
    ]
    assert sent["toolConfig"] == {"functionCallingConfig": {"mode": "VALIDATED"}}


@pytest.mark.parametrize("model_id", ["gemini-2.5-pro", "gemini-1.5-flash", "gemini-pro-latest", "m1", "claude-opus-4"])
async def test_other_models_are_free(make_model, chat, payload_of, read_tool, model_id):
    asking = evolve(read_tool, constrained_sampling="prefer")
    free = await payload_of(make_model(id=model_id), chat.user("a"), tools=[read_tool])

    assert await payload_of(make_model(id=model_id), chat.user("a"), tools=[asking]) == free
    assert "toolConfig" not in free


@pytest.mark.parametrize(("choice", "mode"), [("auto", "VALIDATED"), ("none", "NONE"), ("any", "ANY")])
async def test_a_choice_of_none_or_any_wins_over_strictness(make_model, chat, payload_of, read_tool, choice, mode):
    asking = evolve(read_tool, constrained_sampling="prefer")
    sent = await payload_of(make_model(id=GEMINI_3), chat.user("a"), tools=[asking], tool_choice=choice)

    assert sent["toolConfig"] == {"functionCallingConfig": {"mode": mode}}


async def test_a_tool_that_requires_strictness_in_vain_is_named(make_model, chat, reply, read_tool):
    asking = evolve(read_tool, constrained_sampling="require")
    message = await reply(make_model(id="gemini-2.5-pro"), chat.user("a"), tools=[asking])

    assert message.error_message.startswith("Tool 'read' requires constrained sampling, but API")


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("any", {"mode": "ANY"}),
        ("required", {"mode": "ANY"}),
        ({"type": "any"}, {"mode": "ANY"}),
        ({"type": "tool", "name": "read"}, {"mode": "ANY", "allowedFunctionNames": ["read"]}),
        ({"type": "function", "function": {"name": "read"}}, {"mode": "ANY", "allowedFunctionNames": ["read"]}),
        ("sometimes", {"mode": "AUTO"}),
        (7, {"mode": "AUTO"}),
    ],
)
async def test_choices_of_tools(make_model, chat, payload_of, read_tool, choice, config):
    sent = await payload_of(make_model(), chat.user("a"), tools=[read_tool], tool_choice=choice)

    assert sent["toolConfig"] == {"functionCallingConfig": config}


async def test_a_choice_without_tools_is_not_sent(make_model, chat, payload_of):
    sent = await payload_of(make_model(), chat.user("a"), tool_choice="any")

    assert not {"tools", "toolConfig"} & sent.keys()


async def test_models_of_others_get_the_subset_that_is_translated_for_them(make_model, chat, payload_of):
    async def execute(*_):
        raise NotImplementedError

    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "mode": {"const": "fast"},
            "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0},
            "either": {"type": ["integer", "string"]},
            "where": {"$ref": "#/$defs/place", "description": "Where"},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "many": {"type": "array", "items": {"oneOf": [{"type": "string"}, {"type": "number"}]}},
            "anything": True,
        },
        "required": ["mode"],
        "$defs": {"place": {"type": "object", "properties": {"next": {"$ref": "#/$defs/leaf"}}}, "leaf": {"enum": [1]}},
    }
    tool = Tool(name="go", description="Goes.", parameters=schema, execute=execute)
    model = make_model("google-gemini-cli", id="claude-sonnet-4-6", provider="google-antigravity")
    sent = await payload_of(model, chat.user("a"), tools=[tool])

    (declared,) = sent["request"]["tools"][0]["functionDeclarations"]
    assert declared["parameters"] == {
        "type": "object",
        "properties": {
            "mode": {"enum": ["fast"], "type": "string"},
            "limit": {"type": "integer", "nullable": True},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "where": {"type": "object", "description": "Where", "properties": {"next": {"enum": [1]}}},
            "maybe": {"type": "string", "nullable": True},
            "many": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
            "anything": {"type": "object"},
        },
        "required": ["mode"],
    }


def test_a_schema_that_refers_to_itself_ends():
    from pi_provider_google.schema import openapi_schema

    converted = openapi_schema({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}})

    assert str(converted).count("properties") < 40


async def test_fields_of_the_models_own_replace_ours(make_model, chat, payload_of):
    model = make_model(extra={"samplingParams": {"topP": 0.9, "maxOutputTokens": 7}})
    sent = await payload_of(model, chat.user("a"))

    assert sent["generationConfig"] == {"maxOutputTokens": 7, "topP": 0.9}


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(("model_id", "with_tool"), [(GEMINI_3, True), (GEMINI_3, False), ("gemini-2.5-pro", False)])
async def test_an_answer_is_held_to_a_schema(make_model, chat, payload_of, read_tool, model_id, with_tool):
    sent = await payload_of(
        make_model(id=model_id), chat.user("Hi"), tools=[read_tool] if with_tool else [], output_schema=SCHEMA
    )

    assert sent["generationConfig"]["responseMimeType"] == "application/json"
    assert sent["generationConfig"]["responseJsonSchema"] == SCHEMA


@pytest.mark.parametrize(
    ("model_id", "with_tool"), [("gemini-2.5-pro", True), ("gemma-4-31b-it", False), ("claude-sonnet-4-5", False)]
)
async def test_what_cannot_be_held_to_a_schema_is_not_asked_for_it(
    make_model, chat, payload_of, read_tool, model_id, with_tool
):
    tools = [read_tool] if with_tool else []
    sent = await payload_of(make_model(id=model_id), chat.user("Hi"), tools=tools, output_schema=SCHEMA)

    assert "responseJsonSchema" not in sent.get("generationConfig", {})
