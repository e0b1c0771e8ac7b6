"""What is sent: the conversation in Mistral's words, how to think, headers."""

from __future__ import annotations

import re

import pytest
from attrs import evolve

from pi_hookspecs import Context, StreamOptions
from pi_provider_mistral.request import chat_url, to_headers, to_payload
from pi_testing.fake_servers.mistral import completion, text

SEES = {"input": ("text", "image")}
PIXEL = {"type": "image_url", "image_url": "data:image/png;base64,aW1n"}


@pytest.fixture
def payload_of(make_model):
    """The body: ``payload_of(*messages, model=..., system="", tools=(), **options)``."""

    def body(*messages, model=None, system="", tools=(), **options):
        context = Context(system_prompt=system, messages=messages, tools=tuple(tools))
        return to_payload(model or make_model(), context, StreamOptions(**options))

    return body


def parts(*texts):
    return [{"type": "text", "text": each} for each in texts]


def test_a_whole_conversation(payload_of, make_model, chat, read_tool):
    model = make_model(**SEES)
    payload = payload_of(
        chat.user("Look"),
        chat.answer(
            model,
            chat.thinking("Hm.", "c2ln"),
            chat.text("I look."),
            chat.call("aB3dE6gH9", "read", {"path": "\u00e4"}),
            chat.call("zY8xW7vU6", "read", {}),
        ),
        chat.result("aB3dE6gH9", "content", chat.image()),
        chat.result("zY8xW7vU6", "gone", is_error=True),
        chat.user(chat.text("And this?"), chat.image()),
        model=model,
        system="Be brief.",
        tools=[read_tool],
        temperature=0.5,
        max_tokens=100,
    )

    assert payload == {
        "model": "mistral-fake",
        "stream": True,
        "max_tokens": 100,
        "temperature": 0.5,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Reads a file.",
                    "parameters": read_tool.parameters,
                    "strict": False,
                },
            }
        ],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look"},
            {
                "role": "assistant",
                "prefix": False,
                "content": [
                    {"type": "thinking", "thinking": parts("Hm."), "signature": "c2ln"},
                    *parts("I look."),
                ],
                "tool_calls": [
                    {
                        "id": "aB3dE6gH9",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path":"\u00e4"}'},
                        "index": 0,
                    },
                    {
                        "id": "zY8xW7vU6",
                        "type": "function",
                        "function": {"name": "read", "arguments": "{}"},
                        "index": 0,
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "aB3dE6gH9", "name": "read", "content": [*parts("content"), PIXEL]},
            {"role": "tool", "tool_call_id": "zY8xW7vU6", "name": "read", "content": parts("[tool error] gone")},
            {"role": "user", "content": [*parts("And this?"), PIXEL]},
        ],
    }


async def test_tools_that_ask_are_strict(make_model, chat, payload_of, read_tool, server, reply):
    asking = evolve(read_tool, constrained_sampling="prefer")
    odd = evolve(asking, name="odd", parameters={"type": "object", "additionalProperties": True})
    free = evolve(read_tool, name="free")
    strict = {"supportsStrictMode": True}
    sent = payload_of(chat.user("a"), tools=[asking, odd, free], model=make_model(compat=strict))["tools"]
    server.answers(completion(text("Hi")))
    message = await reply(make_model(base_url=server.url, compat=strict), chat.user("a"), tools=[asking, odd, free])

    assert [(tool["function"]["name"], tool["function"]["strict"]) for tool in sent] == [
        ("read", True),
        ("odd", False),
        ("free", False),
    ]
    assert sent[0]["function"]["parameters"] == {**read_tool.parameters, "additionalProperties": False}
    assert message.text == "Hi"


async def test_tools_are_not_strict_unless_the_model_is_known_to_bear_it(chat, payload_of, read_tool):
    (tool,) = payload_of(chat.user("a"), tools=[evolve(read_tool, constrained_sampling="prefer")])["tools"]

    assert (tool["function"]["strict"], tool["function"]["parameters"]) == (False, read_tool.parameters)


async def test_a_tool_that_requires_strictness_in_vain_is_named(make_model, chat, reply, read_tool):
    odd = {"type": "object", "additionalProperties": True}
    tool = evolve(read_tool, constrained_sampling="require", parameters=odd)
    message = await reply(make_model(compat={"supportsStrictMode": True}), chat.user("a"), tools=[tool])

    assert message.error_message.startswith("Tool 'read' requires constrained sampling, but its schema has no strict")


@pytest.mark.parametrize(("retention", "key"), [(None, "s1"), ("short", "s1"), ("long", "s1"), ("none", None)])
def test_the_session_is_the_key_of_the_prompt_cache(payload_of, chat, retention, key):
    payload = payload_of(chat.user("a"), session_id="s1", cache_retention=retention)

    assert payload.get("prompt_cache_key") == key
    assert "prompt_cache_key" not in payload_of(chat.user("a"))


# Results and images


RESULTS = {
    "text": (["a", "b"], False, ["a\nb"], 0),
    "indented text stays so": (["  a\n"], False, ["  a\n"], 0),
    "nothing": ([], False, ["(no tool output)"], 0),
    "blank": ([" \n"], False, ["(no tool output)"], 0),
    "nothing, failed": ([], True, ["[tool error] (no tool output)"], 0),
    "an image": (["IMAGE"], False, ["(see attached image)"], 1),
    "an image, failed": (["IMAGE"], True, ["[tool error] (see attached image)"], 1),
    "text between images": (["IMAGE", "a", "IMAGE"], False, ["a"], 2),
}


@pytest.mark.parametrize("case", RESULTS)
def test_results_have_text_and_then_their_images(payload_of, make_model, chat, case):
    content, failed, texts, images = RESULTS[case]
    blocks = [chat.image() if each == "IMAGE" else each for each in content]
    model = make_model(**SEES)
    payload = payload_of(
        chat.user("Hi"),
        chat.answer(model, chat.call("aB3dE6gH9", "read")),
        chat.result("aB3dE6gH9", *blocks, is_error=failed),
        model=model,
    )

    assert payload["messages"][-1]["content"] == [*parts(*texts), *[PIXEL] * images]


def test_a_model_without_vision_gets_a_note_about_images(payload_of, make_model, chat):
    model = make_model()
    payload = payload_of(
        chat.user(chat.image()),
        chat.answer(model, chat.call("aB3dE6gH9", "read")),
        chat.result("aB3dE6gH9", chat.image(), is_error=True),
        model=model,
    )

    user, _, result = payload["messages"]
    assert user["content"] == parts("(image omitted: model does not support images)")
    assert result["content"] == parts("[tool error] (tool image omitted: model does not support images)")


def test_empty_answers_are_left_out(payload_of, make_model, chat):
    payload = payload_of(chat.user("Hi"), chat.answer(make_model(), chat.text(" \n")), chat.user("Hi?"))

    assert [message["role"] for message in payload["messages"]] == ["user", "user"]


def test_thinking_of_another_model_is_not_sent(payload_of, make_model, chat):
    other = make_model(id="other")
    payload = payload_of(chat.user("Hi"), chat.answer(other, chat.thinking("Hm."), chat.text("So.")), chat.user("?"))

    assert payload["messages"][1]["content"] == parts("So.")


# Ids


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("call_id", ["call_1", "toolu_01AbC|fc_9", "short", "aB3dE6gH\u00e9"])
def test_ids_become_nine_letters_and_digits_with_their_results(payload_of, make_model, chat, call_id, own):
    model = make_model(id="mistral-fake" if own else "other")
    payload = payload_of(
        chat.user("Hi"), chat.answer(model, chat.call(call_id, "read")), chat.result(call_id, "x"), chat.user("?")
    )

    _, called, result, _ = payload["messages"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", called["tool_calls"][0]["id"])
    assert result["tool_call_id"] == called["tool_calls"][0]["id"]


def test_ids_of_one_answer_stay_apart(payload_of, make_model, chat):
    other = make_model(id="other")
    calls = [chat.call(call_id, "read") for call_id in ("a", "b", "a")]
    results = [chat.result(call_id, call_id) for call_id in ("a", "b", "a")]
    payload = payload_of(chat.user("Hi"), chat.answer(other, *calls), *results, chat.user("?"))

    _, called, *answered, _ = payload["messages"]
    ids = [call["id"] for call in called["tool_calls"]]
    assert len(set(ids)) == 3
    assert sorted(ids) == sorted(message["tool_call_id"] for message in answered)


# Thinking


EFFORT = {
    "reasoning": True,
    "compat": {"supportsReasoningEffort": True},
    "thinking_level_map": {"off": "none", "minimal": None, "low": None, "medium": None, "high": "high"},
}
UNMAPPED = {"reasoning": True, "compat": {"supportsReasoningEffort": True}}

REASONING = {
    "a model that does not reason": ({}, "high", {}),
    "prompt mode, off": ({"reasoning": True}, "off", {}),
    "prompt mode, unsaid": ({"reasoning": True}, None, {}),
    "prompt mode, minimal": ({"reasoning": True}, "minimal", {"prompt_mode": "reasoning"}),
    "prompt mode, high": ({"reasoning": True}, "high", {"prompt_mode": "reasoning"}),
    "prompt mode, xhigh": ({"reasoning": True}, "xhigh", {"prompt_mode": "reasoning"}),
    "effort, off": (EFFORT, "off", {"reasoning_effort": "none"}),
    "effort, unsaid": (EFFORT, None, {"reasoning_effort": "none"}),
    "effort, low": (EFFORT, "low", {"reasoning_effort": "high"}),
    "effort, high": (EFFORT, "high", {"reasoning_effort": "high"}),
    "effort, max": (EFFORT, "max", {"reasoning_effort": "high"}),
    "effort without a map, off": (UNMAPPED, "off", {}),
    "effort without a map, low": (UNMAPPED, "low", {"reasoning_effort": "high"}),
}


@pytest.mark.parametrize("case", REASONING)
def test_reasoning_options_of_each_model(payload_of, make_model, chat, case):
    fields, level, expected = REASONING[case]
    payload = payload_of(chat.user("Hi"), model=make_model(**fields), reasoning=level)

    assert {name: payload[name] for name in ("prompt_mode", "reasoning_effort") if name in payload} == expected


# Tools


CHOICES = {
    "auto": "auto",
    "none": "none",
    "any": "any",
    "required": "required",
}
ONE = {"type": "function", "function": {"name": "read"}}


@pytest.mark.parametrize("choice", CHOICES)
def test_tool_choice_by_word(payload_of, chat, read_tool, choice):
    payload = payload_of(chat.user("Hi"), tools=[read_tool], tool_choice=choice)

    assert payload["tool_choice"] == choice


@pytest.mark.parametrize("choice", [ONE, {"type": "tool", "name": "read"}, {"type": "function", "name": "read"}])
def test_tool_choice_by_name(payload_of, chat, read_tool, choice):
    payload = payload_of(chat.user("Hi"), tools=[read_tool], tool_choice=choice)

    assert payload["tool_choice"] == ONE


def test_tool_choice_in_the_words_of_another_api(payload_of, chat, read_tool):
    assert payload_of(chat.user("Hi"), tools=[read_tool], tool_choice={"type": "any"})["tool_choice"] == "any"


def test_without_tools_there_is_no_choice(payload_of, chat):
    payload = payload_of(chat.user("Hi"), tool_choice="any")

    assert not {"tools", "tool_choice"} & payload.keys()


# Limits, address, headers


def test_output_is_bounded_by_the_window(payload_of, make_model, chat):
    small = make_model(context_window=10_000, max_tokens=8000)

    assert payload_of(chat.user("Hi"), model=small)["max_tokens"] == 10_000 - 4096 - 1
    assert payload_of(chat.user("Hi"), model=make_model())["max_tokens"] == 4096


@pytest.mark.parametrize(
    "base", ["https://m.example", "https://m.example/", "https://m.example/v1", "https://m.example/v1/"]
)
def test_the_base_url_may_end_in_the_version(base):
    assert chat_url(base) == "https://m.example/v1/chat/completions"


def test_the_session_stays_where_its_prefix_is_cached(make_model):
    options = StreamOptions(api_key="k", session_id="s1")

    assert to_headers(make_model(), options) == {"x-affinity": "s1", "authorization": "Bearer k"}
    assert "x-affinity" not in to_headers(make_model(), StreamOptions(session_id="s1", cache_retention="none"))
    assert to_headers(make_model(), StreamOptions()) == {}


async def test_a_users_own_affinity_wins(server, make_model, chat, ask):
    server.answers(completion(text("Hi")), completion(text("Hi")))
    mine = {"X-Affinity": "mine"}
    await ask(make_model(base_url=server.url, headers=mine), chat.user("Hi"), session_id="s1")
    await ask(make_model(base_url=server.url), chat.user("Hi"), session_id="s1", headers=mine)

    assert [request.headers["x-affinity"] for request in server.requests] == ["mine", "mine"]


async def test_hooks_see_the_payload_and_the_response(server, make_model, chat, reply):
    seen = []

    async def on_payload(payload, model):
        return {**payload, "model": "mistral-other"}

    async def on_response(status, headers):
        seen.append((status, headers["x-request-id"]))

    server.answers(completion(text("Hi")))
    message = await reply(
        make_model(base_url=server.url), chat.user("Hi"), on_payload=on_payload, on_response=on_response
    )

    assert message.text == "Hi"
    assert seen == [(200, "0195fake")]
    assert server.request.json["model"] == "mistral-other"
    assert server.request.headers["user-agent"].startswith("pi/")
    assert server.request.path == "/v1/chat/completions"


def test_a_model_s_own_fields_win(payload_of, make_model, chat):
    model = make_model(extra={"samplingParams": {"temperature": 1, "random_seed": 7}})
    payload = payload_of(chat.user("Hi"), model=model, temperature=0.5)

    assert (payload["temperature"], payload["random_seed"]) == (1, 7)


SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_an_answer_without_tools_is_held_to_a_schema(payload_of, chat):
    assert payload_of(chat.user("Hi"), output_schema=SCHEMA)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "output", "schema": SCHEMA, "strict": True},
    }


def test_a_model_that_may_call_tools_is_free_to(payload_of, chat, read_tool):
    assert "response_format" not in payload_of(chat.user("Hi"), tools=[read_tool], output_schema=SCHEMA)
