"""Bodies of Chat Completions, as literal JSON (what pi 0.87.1 was seen to send)."""

from __future__ import annotations

import pytest

SYSTEM = "Be brief."


async def test_a_host_that_nothing_is_known_of_counts_as_standard(make_model, chat, payload_of, read_tool):
    body = await payload_of(
        make_model(reasoning=True), chat.user("Hi"), system=SYSTEM, tools=[read_tool], session_id="s"
    )

    assert body == {
        "model": "gpt-fake",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "store": False,
        "max_completion_tokens": 4096,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads a file.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "path": {"type": "string"},
                            "limit": {"type": "integer", "description": "Lines"},
                        },
                        "required": ["path"],
                    },
                },
            }
        ],
    }


async def test_a_model_that_does_not_reason_has_a_system_prompt(make_model, chat, payload_of):
    body = await payload_of(make_model(), chat.user("Hi"), system=SYSTEM)

    assert body["messages"][0] == {"role": "system", "content": "Be brief."}


async def test_the_output_limit_is_what_the_window_leaves(make_model, chat, payload_of):
    body = await payload_of(make_model(context_window=10_000, max_tokens=8000), chat.user("x" * 4000))

    assert body["max_completion_tokens"] == 10_000 - 1000 - 4096


async def test_user_content_is_always_a_list(make_model, chat, payload_of):
    body = await payload_of(make_model(input=("text", "image")), chat.user(chat.text("Look"), chat.image()))

    assert body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}},
            ],
        }
    ]


async def test_calls_and_results_go_back(make_model, chat, payload_of):
    model = make_model()
    body = await payload_of(
        model,
        chat.user("Read"),
        chat.answer(model, chat.call("call_1", "read", {"path": "a"}), stop_reason="toolUse"),
        chat.result("call_1", "content"),
    )

    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "content"},
    ]


async def test_texts_are_joined_and_an_answer_without_text_and_calls_is_left_out(make_model, chat, payload_of):
    model = make_model()
    body = await payload_of(
        model,
        chat.user("a"),
        chat.answer(model, chat.text("one"), chat.text(" "), chat.text("two")),
        chat.user("b"),
        chat.answer(model, chat.thinking("only thought", "reasoning_content")),
        chat.user("c"),
    )

    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "user"]
    assert body["messages"][1] == {"role": "assistant", "content": "onetwo"}


async def test_thinking_goes_back_in_the_field_that_it_came_in(make_model, chat, payload_of):
    model = make_model(reasoning=True)
    body = await payload_of(
        model,
        chat.user("a"),
        chat.answer(model, chat.thinking("Hm.", "reasoning"), chat.text("Yes")),
        chat.user("b"),
    )

    assert body["messages"][1] == {"role": "assistant", "content": "Yes", "reasoning": "Hm."}


async def test_the_thinking_of_another_model_is_dropped(make_model, chat, payload_of):
    other = make_model(id="other")
    body = await payload_of(
        make_model(reasoning=True), chat.user("a"), chat.answer(other, chat.thinking("Hm.", "x"), chat.text("Yes"))
    )

    assert body["messages"][1] == {"role": "assistant", "content": "Yes"}


@pytest.mark.parametrize("place", ["thinking", "call"])
async def test_reasoning_details_go_back_as_they_came(make_model, chat, payload_of, place):
    model = make_model(reasoning=True)
    detail = '{"type":"reasoning.encrypted","data":"x","id":"call_1"}'
    thought = chat.thinking("Hm.", f"[{detail}]") if place == "thinking" else chat.thinking("Hm.", "reasoning")
    call = chat.call("call_1", "read", {}, detail if place == "call" else None)
    body = await payload_of(model, chat.user("a"), chat.answer(model, thought, call), chat.result("call_1", "ok"))

    assert body["messages"][1]["reasoning_details"] == [{"type": "reasoning.encrypted", "data": "x", "id": "call_1"}]
    assert "reasoning" not in body["messages"][1]


async def test_images_of_results_follow_in_a_message_of_their_own(make_model, chat, payload_of):
    model = make_model(input=("text", "image"))
    body = await payload_of(
        model,
        chat.user("a"),
        chat.answer(model, chat.call("c1", "read", {}), chat.call("c2", "read", {})),
        chat.result("c1", chat.image()),
        chat.result("c2"),
        chat.user("b"),
    )

    assert body["messages"][2:] == [
        {"role": "tool", "tool_call_id": "c1", "content": "(see attached image)"},
        {"role": "tool", "tool_call_id": "c2", "content": "(no tool output)"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Attached image(s) from tool result:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aW1n"}},
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": "b"}]},
    ]


async def test_images_at_the_end_follow_too(make_model, chat, payload_of):
    model = make_model(input=("text", "image"))
    body = await payload_of(
        model, chat.user("a"), chat.answer(model, chat.call("c1", "read", {})), chat.result("c1", "text", chat.image())
    )

    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "user"]


async def test_long_foreign_ids_are_cut_and_stay_apart(make_model, chat, payload_of):
    other = make_model("openai-responses", provider="openai")
    ids = [f"call_{'x' * 60}{number}|fc_1" for number in range(2)]
    body = await payload_of(
        make_model(),
        chat.user("a"),
        chat.answer(other, *(chat.call(each, "read", {}) for each in ids)),
        *(chat.result(each, "ok") for each in ids),
    )

    sent = [call["id"] for call in body["messages"][1]["tool_calls"]]
    assert all(len(each) == 40 and each[31] == "_" for each in sent)
    assert len(set(sent)) == 2
    assert [message["tool_call_id"] for message in body["messages"][2:]] == sent


async def test_system_messages_join_the_prompt(make_model, chat, payload_of):
    from pi_hookspecs import SystemMessage

    later = SystemMessage(content="And kind.", timestamp=0)
    body = await payload_of(make_model(), chat.user("a"), later, system=SYSTEM)
    in_place = await payload_of(
        make_model(compat={"supportsMidConvoSystemMessages": True}), chat.user("a"), later, system=SYSTEM
    )

    assert body["messages"][0]["content"] == "Be brief.\n\nAnd kind."
    assert [message["role"] for message in in_place["messages"]] == ["system", "user", "system"]


async def test_options_become_fields(make_model, chat, payload_of, read_tool):
    body = await payload_of(
        make_model(extra={"samplingParams": {"top_p": 0.5}}),
        chat.user("a"),
        tools=[read_tool],
        temperature=0.2,
        max_tokens=100,
        tool_choice={"type": "tool", "name": "read"},
    )

    assert (body["temperature"], body["max_completion_tokens"], body["top_p"]) == (0.2, 100, 0.5)
    assert body["tool_choice"] == {"type": "function", "function": {"name": "read"}}


@pytest.mark.parametrize(
    ("where", "retention", "expected"),
    [
        ("http://127.0.0.1:9/v1", None, {}),
        ("http://127.0.0.1:9/v1", "long", {"prompt_cache_key": "s1", "prompt_cache_retention": "24h"}),
        ("https://api.openai.com/v1", None, {"prompt_cache_key": "s1"}),
        ("https://api.openai.com/v1", "none", {}),
    ],
)
async def test_the_session_is_the_cache_key_where_hosts_know_it(
    make_model, chat, payload_of, where, retention, expected
):
    body = await payload_of(make_model(base_url=where), chat.user("a"), session_id="s1", cache_retention=retention)

    assert {name: value for name, value in body.items() if name.startswith("prompt_cache")} == expected


async def test_the_environment_chooses_the_retention(make_model, chat, payload_of, monkeypatch):
    monkeypatch.setenv("PI_CACHE_RETENTION", "long")

    assert (await payload_of(make_model(), chat.user("a")))["prompt_cache_retention"] == "24h"


async def test_an_answer_is_held_to_a_schema_in_its_strict_form(make_model, chat, payload_of, output_schema):
    body = await payload_of(
        make_model(compat={"supportsStructuredOutput": True}), chat.user("Hi"), output_schema=output_schema
    )

    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "output",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "age": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                },
                "required": ["name", "age"],
                "additionalProperties": False,
            },
        },
    }


async def test_a_schema_that_has_no_strict_form_guides_the_answer(make_model, chat, payload_of):
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    model = make_model(compat={"supportsStructuredOutput": True})
    body = await payload_of(model, chat.user("Hi"), output_schema=schema)

    assert body["response_format"]["json_schema"] == {"name": "output", "strict": False, "schema": schema}


async def test_a_host_that_nothing_is_known_of_is_asked_for_no_schema(make_model, chat, payload_of, output_schema):
    assert "response_format" not in await payload_of(make_model(), chat.user("Hi"), output_schema=output_schema)
