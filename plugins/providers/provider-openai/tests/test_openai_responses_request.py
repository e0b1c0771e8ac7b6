"""Bodies of Responses, as literal JSON (what pi 0.87.1 was seen to send), and what is replayed of answers."""

from __future__ import annotations

import pytest

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "description": "Lines"}},
    "required": ["path"],
}


@pytest.fixture
def model(make_model):
    return make_model("openai-responses", reasoning=True)


async def test_a_request(model, chat, payload_of, read_tool):
    body = await payload_of(
        model, chat.user("Hi"), system="Be brief.", tools=[read_tool], session_id="s" * 70, reasoning="high"
    )

    assert body == {
        "model": "gpt-fake",
        "input": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        ],
        "stream": True,
        "store": False,
        "prompt_cache_key": "s" * 64,
        "max_output_tokens": 4096,
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "tools": [{"type": "function", "name": "read", "description": "Reads a file.", "parameters": SCHEMA}],
    }


@pytest.mark.parametrize(
    ("fields", "options", "expected"),
    [
        ({}, {}, {"reasoning": {"effort": "none"}}),
        ({}, {"reasoning": "off"}, {"reasoning": {"effort": "none"}}),
        ({"thinking_level_map": {"off": None}}, {}, {}),
        ({"thinking_level_map": {"off": "minimal"}}, {}, {"reasoning": {"effort": "minimal"}}),
        ({"reasoning": False}, {"reasoning": "high"}, {}),
        ({"compat": {"supportsReasoningEffort": False}}, {"reasoning": "high"}, {}),
        ({"provider": "github-copilot"}, {}, {}),
        ({"provider": "xai"}, {}, {"reasoning": {"effort": "none"}, "include": ["reasoning.encrypted_content"]}),
        (
            {"thinking_level_map": {"xhigh": "xhigh"}},
            {"reasoning": "max"},
            {"reasoning": {"effort": "xhigh", "summary": "auto"}, "include": ["reasoning.encrypted_content"]},
        ),
    ],
)
async def test_thinking(make_model, chat, payload_of, fields, options, expected):
    model = make_model("openai-responses", **{"reasoning": True, **fields})
    body = await payload_of(model, chat.user("Hi"), **options)

    assert {name: body[name] for name in ("reasoning", "include") if name in body} == expected


@pytest.mark.parametrize(
    ("fields", "role"),
    [
        ({}, "system"),
        ({"provider": "openai"}, "developer"),
        ({"base_url": "https://eu.api.openai.com/v1"}, "developer"),
        ({"compat": {"supportsDeveloperRole": True}}, "developer"),
        ({"provider": "openai", "compat": {"supportsDeveloperRole": False}}, "system"),
        ({"provider": "openai", "reasoning": False}, "system"),
    ],
)
async def test_the_system_prompt_has_the_role_developer_at_openai_alone(make_model, chat, payload_of, fields, role):
    model = make_model("openai-responses", **{"reasoning": True, **fields})
    body = await payload_of(model, chat.user("Hi"), system="S")

    assert body["input"][0] == {"role": role, "content": "S"}


@pytest.mark.parametrize(
    ("compat", "retention", "expected"),
    [
        ({}, None, {"prompt_cache_key": "s"}),
        ({}, "long", {"prompt_cache_key": "s", "prompt_cache_retention": "24h"}),
        ({"supportsLongCacheRetention": False}, "long", {"prompt_cache_key": "s"}),
        ({}, "none", {}),
        ({"promptCacheKeyMode": "none"}, "short", {}),
    ],
)
async def test_caching(make_model, chat, payload_of, compat, retention, expected):
    model = make_model("openai-responses", compat=compat)
    body = await payload_of(model, chat.user("Hi"), session_id="s", cache_retention=retention)

    assert {name: value for name, value in body.items() if name.startswith("prompt_cache")} == expected


async def test_options_and_flags_become_fields(make_model, chat, payload_of, read_tool):
    model = make_model("openai-responses", compat={"supportsStrictMode": False, "supportsMaxOutputTokens": False})
    body = await payload_of(model, chat.user("a"), tools=[read_tool], temperature=0.1, tool_choice="any")
    small = await payload_of(make_model("openai-responses"), chat.user("a"), max_tokens=3)

    assert "strict" not in body["tools"][0]
    assert "max_output_tokens" not in body
    assert (body["temperature"], body["tool_choice"]) == (0.1, "required")
    assert small["max_output_tokens"] == 16


@pytest.mark.parametrize("choice", [{"type": "tool", "name": "x"}, {"type": "function", "function": {"name": "x"}}])
async def test_a_tool_may_be_demanded_in_any_api_s_words(model, chat, payload_of, read_tool, choice):
    body = await payload_of(model, chat.user("a"), tools=[read_tool], tool_choice=choice)

    assert body["tool_choice"] == {"type": "function", "name": "x"}


async def test_items_of_this_model_go_back_unchanged(model, chat, payload_of):
    item = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}'
    body = await payload_of(
        model,
        chat.user("a"),
        chat.answer(
            model,
            chat.thinking("", item),
            chat.text("Hm", '{"v":1,"id":"msg_1","phase":"commentary"}'),
            chat.call("call_1|fc_1", "read", {"path": "a"}, namespace="ns"),
        ),
        chat.result("call_1|fc_1", "ok"),
    )

    assert body["input"][1:] == [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Hm", "annotations": []}],
            "status": "completed",
            "id": "msg_1",
            "phase": "commentary",
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": "read",
            "arguments": '{"path":"a"}',
            "namespace": "ns",
        },
        {"type": "function_call_output", "call_id": "call_1", "output": "ok"},
    ]


async def test_items_of_another_model_get_our_ids_and_its_calls_none(make_model, model, chat, payload_of):
    other = make_model("openai-completions", id="other")
    body = await payload_of(
        model,
        chat.user("a"),
        chat.answer(
            other,
            chat.thinking("Hm.", "reasoning"),
            chat.text("one", "sig"),
            chat.text("two"),
            chat.call("call/1", "read", {}, namespace="ns"),
        ),
        chat.result("call/1", "ok"),
    )

    assert [item.get("id") for item in body["input"]] == [None, "msg_pi_1", "msg_pi_1_1", None, None]
    assert body["input"][3] == {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{}"}
    assert body["input"][4]["call_id"] == "call_1"


async def test_another_model_of_the_same_api_is_another_model(make_model, model, chat, payload_of):
    other = make_model("openai-responses", id="other")
    item = '{"type":"reasoning","id":"rs_1","summary":[]}'
    answer = chat.answer(other, chat.thinking("Hm.", item), chat.call("call_1|fc_1", "read", {}))
    body = await payload_of(model, chat.user("a"), answer, chat.result("call_1|fc_1", "ok"))

    assert [item.get("type") for item in body["input"]] == [None, "function_call", "function_call_output"]
    assert "id" not in body["input"][1]


async def test_calls_lose_their_ids_where_their_reasoning_cannot_go_back(model, chat, payload_of):
    answer = chat.answer(model, chat.thinking("Hm.", "broken"), chat.call("call_1|fc_1", "read", {}))
    body = await payload_of(model, chat.user("a"), answer, chat.result("call_1|fc_1", "ok"))

    assert "id" not in body["input"][1]


async def test_old_and_overlong_text_ids(model, chat, payload_of):
    answer = chat.answer(model, chat.text("a", "msg_old"), chat.text("b", "x" * 65))
    body = await payload_of(model, chat.user("a"), answer, chat.user("b"))

    assert [item["id"] for item in body["input"][1:3]] == ["msg_old", "msg_pi_1_1"]


async def test_images(make_model, chat, payload_of):
    model = make_model("openai-responses", input=("text", "image"))
    body = await payload_of(
        model,
        chat.user(chat.text("Look"), chat.image()),
        chat.answer(model, chat.call("c|fc", "read", {})),
        chat.result("c|fc", "seen", chat.image()),
    )
    image = {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,aW1n"}

    assert body["input"][0]["content"] == [{"type": "input_text", "text": "Look"}, image]
    assert body["input"][2]["output"] == [{"type": "input_text", "text": "seen"}, image]


async def test_the_session_is_in_the_headers(model, chat, ask, make_model):
    from pi_testing.fake_servers.openai import FakeOpenAI, response, text

    async with FakeOpenAI() as server:
        server.answers(response(text("a")), response(text("a")))
        await ask(make_model("openai-responses", base_url=server.base_url), chat.user("a"), session_id="s1")
        headers = server.request.headers
        await ask(make_model("openai-responses", base_url=server.base_url, provider="openrouter"), chat.user("a"),
                  session_id="s1")  # fmt: skip

    assert (headers["session-id"], headers["x-client-request-id"]) == ("s1", "s1")
    assert (server.request.headers["x-session-id"], server.request.headers.get("session-id")) == ("s1", None)


async def test_the_header_for_copilot_names_the_initiator(chat, ask, make_model):
    from pi_testing.fake_servers.openai import FakeOpenAI, response, text

    async with FakeOpenAI() as server:
        server.answers(response(text("a")), response(text("a")))
        model = make_model(
            "openai-responses", base_url=server.base_url, provider="github-copilot", input=("text", "image")
        )
        await ask(model, chat.user("a"))
        first = server.request.headers
        answer = chat.answer(model, chat.call("c|fc_1", "read", {}))
        await ask(model, chat.user("a"), answer, chat.result("c|fc_1", chat.image()))

    assert (first["x-initiator"], "copilot-vision-request" in first) == ("user", False)
    assert server.request.headers["x-initiator"] == "agent"
    assert server.request.headers["copilot-vision-request"] == "true"


async def test_an_answer_is_held_to_a_schema(make_model, chat, payload_of, output_schema):
    body = await payload_of(make_model("openai-responses"), chat.user("Hi"), output_schema=output_schema)

    assert body["text"]["format"] | {"schema": None} == {
        "type": "json_schema",
        "name": "output",
        "strict": True,
        "schema": None,
    }
    assert body["text"]["format"]["schema"]["required"] == ["name", "age"]


async def test_copilot_is_asked_for_no_schema(make_model, chat, payload_of, output_schema):
    model = make_model("openai-responses", provider="github-copilot")

    assert "text" not in await payload_of(model, chat.user("Hi"), output_schema=output_schema)
