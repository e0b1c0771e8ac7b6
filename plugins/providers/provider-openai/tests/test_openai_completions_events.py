"""Chunks of Chat Completions, as hosts send them and as no host should."""

from __future__ import annotations

import pytest

from pi_provider_openai.completions_events import CompletionsFeeder, completions_usage
from pi_testing.fake_servers.openai import call, completion_events, reasoning, text

DONE = b"[DONE]"


@pytest.fixture
def answer(make_model, fed, final):
    """The message that chunks make."""

    def message(*data, model=None, **fields):
        return final(fed(CompletionsFeeder(model or make_model(), **fields), *data))

    return message


def chunk(finish=None, **delta):
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def pieces(*calls):
    return chunk(tool_calls=list(calls))


def piece(index=0, call_id=None, name=None, arguments=None):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    known = {"index": index, "id": call_id, "type": "function", "function": function}
    return {key: value for key, value in known.items() if value is not None}


def test_text_thinking_and_calls_in_order(make_model, fed, final):
    events = fed(
        CompletionsFeeder(make_model()),
        *completion_events(reasoning("Hm", "."), text("Hel", "lo"), call("c1", "read", path="a")),
        DONE,
    )

    assert [event.type for event in events] == [
        "start",
        *("thinking_start", "thinking_delta", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_delta", "text_end"),
        *("toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end"),
        "done",
    ]
    message = final(events)
    thinking, words, made = message.content
    assert (thinking.thinking, thinking.thinking_signature) == ("Hm.", "reasoning_content")
    assert words.text == "Hello"
    assert (made.id, made.name, made.arguments) == ("c1", "read", {"path": "a"})
    assert (message.stop_reason, message.raw_stop_reason) == ("toolUse", "tool_calls")
    assert (message.response_id, message.response_model) == ("chatcmpl-fake", None)
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (11, 7, 18)


def test_the_model_that_answered_is_noted_where_it_is_another(answer, make_model):
    message = answer(*completion_events(text("a"), model="gpt-5-2026"), DONE)

    assert message.response_model == "gpt-5-2026"


def test_parallel_calls_may_come_interleaved(answer):
    message = answer(
        pieces(piece(0, "a", "read", '{"path":')),
        pieces(piece(1, "b", "read", '{"path":'), piece(0, arguments='"x"}')),
        pieces(piece(1, arguments='"y"}')),
        chunk("tool_calls"),
        DONE,
    )

    assert [(each.id, each.arguments) for each in message.tool_calls] == [("a", {"path": "x"}), ("b", {"path": "y"})]


def test_calls_that_all_have_the_index_0_are_distinguished_by_id(answer):
    message = answer(
        pieces(piece(0, "a", "read", '{"path":"x"}')), pieces(piece(0, "b", "read", '{"path":"y"}')), chunk("stop")
    )

    assert [(each.id, each.arguments["path"]) for each in message.tool_calls] == [("a", "x"), ("b", "y")]
    assert message.stop_reason == "toolUse"


def test_a_repeated_id_and_name_belong_to_the_same_call(answer):
    message = answer(pieces(piece(0, "a", "read", '{"pa')), pieces(piece(0, "a", "read", 'th":"x"}')), chunk("stop"))

    assert [each.arguments for each in message.tool_calls] == [{"path": "x"}]


def test_calls_without_an_index(answer):
    message = answer(
        pieces(piece(None, "a", "read", "{")),
        pieces(piece(None, arguments="}")),
        pieces(piece(None, "b", "ls", "{}")),
        chunk("tool_calls"),
    )

    assert [(each.id, each.name, each.arguments) for each in message.tool_calls] == [("a", "read", {}), ("b", "ls", {})]


def test_a_call_without_an_id_gets_one(answer):
    message = answer(
        pieces(piece(0, None, "read", '{"path":"x"}')), pieces(piece(1, "", "ls")), chunk("tool_calls"), DONE
    )

    assert [(each.id, each.name) for each in message.tool_calls] == [("call_0_c", "read"), ("call_1_c", "ls")]


def test_two_calls_with_one_id_become_two(answer):
    message = answer(pieces(piece(0, "a", "read", "{}"), piece(1, "a", "ls", "{}")), chunk("tool_calls"), DONE)

    assert [(each.id, each.name) for each in message.tool_calls] == [("a", "read"), ("call_1_c", "ls")]


def test_a_call_that_the_limit_cut_before_its_name_is_left_out(answer):
    message = answer(chunk(content="a"), pieces(piece(0, "a")), chunk("length"), DONE)

    assert (message.stop_reason, message.text, message.tool_calls) == ("length", "a", ())


def test_arguments_that_come_as_an_object_are_taken(answer):
    message = answer(
        pieces({"index": 0, "function": {"name": "read", "arguments": {"path": "x"}}}), chunk("tool_calls")
    )

    assert message.tool_calls[0].arguments == {"path": "x"}


def test_a_name_that_comes_after_arguments(answer):
    message = answer(
        pieces(piece(0, "a", None, '{"path"')), pieces(piece(0, None, "read", ':"x"}')), chunk("tool_calls")
    )

    assert [(each.name, each.arguments) for each in message.tool_calls] == [("read", {"path": "x"})]


def test_a_call_without_a_name_is_an_error_that_keeps_the_text(answer):
    message = answer(chunk(content="Let me see."), pieces(piece(0, "a", None, "{}")), chunk("tool_calls"), DONE)

    assert message.stop_reason == "error"
    assert message.error_message.startswith("The model made a tool call without a name.")
    assert (message.text, message.tool_calls) == ("Let me see.", ())


def test_no_calls_where_calls_were_announced_is_a_plain_stop(answer):
    message = answer(chunk(content="a", tool_calls=[]), chunk("tool_calls", tool_calls=[]), DONE)

    assert (message.text, message.stop_reason) == ("a", "stop")


def test_an_empty_answer_is_an_empty_message(answer):
    message = answer(chunk(role="assistant", content=""), chunk("stop"), DONE)

    assert (message.content, message.stop_reason) == ((), "stop")


def test_almost_json_is_repaired_and_noted(answer):
    message = answer(pieces(piece(0, "a", "read", "{'path': 'x',}")), chunk("tool_calls"), DONE)

    assert message.tool_calls[0].arguments == {"path": "x"}
    assert "single quotes" in message.tool_calls[0].extra["argumentsRepair"]


def test_nothing_is_repaired_where_the_output_limit_cut(answer):
    message = answer(pieces(piece(0, "a", "read", '{"path": "x')), chunk("length"), DONE)

    assert message.stop_reason == "length"
    assert message.tool_calls[0].arguments_error is not None


@pytest.mark.parametrize(
    ("reason", "stop", "error"),
    [
        ("stop", "stop", None),
        ("end", "stop", None),
        ("length", "length", None),
        (
            "content_filter",
            "error",
            "Provider finish_reason: content_filter\nRephrase the request, or choose another model.",
        ),
        (
            "weird",
            "error",
            "Provider finish_reason: weird\nSend the prompt again, or choose another model.",
        ),
    ],
)
def test_finish_reasons(answer, reason, stop, error):
    message = answer(chunk(content="a"), chunk(reason), DONE)

    assert (message.text, message.stop_reason, message.error_message) == ("a", stop, error)
    assert message.raw_stop_reason == reason


@pytest.mark.parametrize("end", [(), (DONE,)])
def test_a_stream_without_a_finish_reason_is_an_error(answer, end):
    message = answer(chunk(content="Hel"), *end)

    assert message.error_message.startswith("Stream ended without finish_reason")
    assert message.text == "Hel"


def test_a_call_that_was_not_finished_is_never_there(answer):
    message = answer(chunk(content="a"), pieces(piece(0, "a", "read", '{"path":"x"}')))

    assert (message.stop_reason, message.tool_calls) == ("error", ())


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        ({"code": 502, "message": "Upstream"}, 502, '502: {"code":502,"message":"Upstream"}'),
        ({"code": "server_error", "message": "Down"}, 500, '{"code":"server_error","message":"Down"}'),
        ("Down", None, "Down"),
    ],
)
def test_an_error_after_text_keeps_the_text(answer, error, status, text):
    message = answer(chunk(content="Hel"), {"id": "c", "choices": [], "error": error})

    assert message.error_message.startswith(text)
    assert message.text == "Hel"
    assert message.extra.get("requestFailure", {}).get("status") == status


def test_an_error_in_the_choice_says_what_happened(answer):
    choice = {"index": 0, "delta": {}, "finish_reason": "error", "error": {"code": 429, "message": "Slow down"}}
    message = answer({"choices": [choice]})

    assert message.error_message.startswith('429: {"code":429,"message":"Slow down"}')


def test_what_is_not_json_is_an_error_that_is_not_retried(answer):
    message = answer(chunk(content="Hel"), b'{"id": "c", "choices": [')

    assert message.error_message.startswith("The host sent an event that is not JSON")
    assert message.text == "Hel"


@pytest.mark.parametrize(
    "odd",
    [
        *([], 5, None, "x", {}, {"choices": None}, {"choices": [None]}, {"choices": [{}]}, {"choices": {"delta": 1}}),
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": 5, "reasoning": 5, "reasoning_details": "x"}}]},
        {"choices": [{"delta": {"tool_calls": [None, 5], "content": [None, {"type": "text"}]}}]},
        {"choices": [{"delta": {"reasoning_details": [{"type": "other"}, None]}}]},
        {"usage": 5, "choices": []},
        {"id": 5, "model": 5, "usage": {"prompt_tokens": "x", "prompt_tokens_details": 5, "cost": {}}},
    ],
)
def test_odd_chunks_do_no_harm(answer, odd):
    message = answer(chunk(content="a"), odd, chunk(content="b"), chunk("stop"), DONE)

    assert (message.text, message.stop_reason) == ("ab", "stop")


def test_what_comes_after_the_end_is_ignored(answer):
    message = answer(chunk(content="a"), chunk("stop"), DONE, chunk(content="b"), DONE)

    assert message.text == "a"


def test_half_a_surrogate_pair_meets_the_other_half(answer):
    message = answer(b'{"choices":[{"delta":{"content":"\\ud83d"}}]}', b'{"choices":[{"delta":{"content":"\\ude00"}}]}',
                     chunk("stop"), DONE)  # fmt: skip

    assert message.text == "\N{GRINNING FACE}"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thinking_remembers_its_field(answer, field):
    message = answer(*completion_events(reasoning("Hm."), text("a"), field=field), DONE)

    assert message.content[0].thinking_signature == field


def test_thinking_that_comes_twice_is_taken_once(answer):
    message = answer(chunk(reasoning="Hm.", reasoning_content="Hm."), chunk(content="a"), chunk("stop"))

    assert message.content[0].thinking == "Hm."


def test_thinking_in_content_parts(answer):
    part = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    message = answer(chunk(content=[part]), chunk(content=[{"type": "text", "text": "a"}]), chunk("stop"))

    assert [block.type for block in message.content] == ["thinking", "text"]


def test_reasoning_details_are_joined_and_kept_for_the_replay(answer):
    message = answer(
        chunk(reasoning="H", reasoning_details=[{"type": "reasoning.text", "text": "H", "index": 0}]),
        chunk(reasoning="m", reasoning_details=[{"type": "reasoning.text", "text": "m", "index": 0}]),
        chunk(content="a"),
        chunk(reasoning_details=[{"type": "reasoning.text", "signature": "sig", "index": 0}]),
        pieces(piece(0, "c1", "read", "{}")),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "x", "id": "c1", "index": 1}]),
        chunk("tool_calls"),
        DONE,
    )

    thinking, _, made = message.content
    assert thinking.thinking == "Hm"
    assert thinking.thinking_signature == (
        '[{"type":"reasoning.text","text":"Hm","index":0,"signature":"sig"},'
        '{"type":"reasoning.encrypted","data":"x","id":"c1","index":1}]'
    )
    assert made.thought_signature == '{"type":"reasoning.encrypted","data":"x","id":"c1","index":1}'


def test_a_whole_message_in_one_chunk(answer):
    choice = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}

    assert answer({"choices": [choice]}).text == "Hi"


def test_calls_that_a_local_model_wrote_as_text(answer):
    written = 'Sure.\n<tool_call>{"name": "read", "arguments": {"path": "x"}}</tool_call>'
    made = answer(chunk(content=written), chunk("stop"), DONE, tools=["read"])
    plain = answer(chunk(content=written), chunk("stop"), DONE)

    assert (made.stop_reason, made.tool_calls[0].arguments) == ("toolUse", {"path": "x"})
    assert "argumentsRepair" in made.tool_calls[0].extra
    assert plain.tool_calls == ()


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 100, "completion_tokens": 5}, (100, 5, 0, 0, 0)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 40}}, (60, 0, 40, 0, 0)),
        (
            {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 40, "cache_write_tokens": 10}},
            (50, 0, 40, 10, 0),
        ),
        ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 30}, (70, 0, 30, 0, 0)),
        ({"prompt_tokens": 100, "cached_tokens": 20}, (80, 0, 20, 0, 0)),
        ({"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}}, (0, 9, 0, 0, 4)),
        ({"prompt_tokens": None, "completion_tokens": "x"}, (0, 0, 0, 0, 0)),
    ],
)
def test_usage(make_model, usage, expected):
    found = completions_usage(usage, make_model())

    assert (found.input, found.output, found.cache_read, found.cache_write, found.reasoning) == expected


def test_what_was_billed_replaces_the_estimate(make_model):
    found = completions_usage({"prompt_tokens": 1, "cost": 0.25}, make_model())

    assert (found.cost.total, found.cost.total_from_provider) == (0.25, True)


@pytest.mark.parametrize("billed", [float("inf"), float("nan"), -1, 10**400, True, "0.25"])
def test_a_bill_that_is_none_does_not_count(make_model, billed):
    found = completions_usage({"prompt_tokens": 1, "cost": billed}, make_model())

    assert not found.cost.total_from_provider


@pytest.mark.parametrize("tokens", [float("inf"), float("nan"), -1, 10**400, True, "7"])
def test_tokens_that_are_no_number_are_none(make_model, tokens):
    assert completions_usage({"prompt_tokens": tokens, "completion_tokens": tokens}, make_model()).total_tokens == 0


def test_usage_inside_the_choice(answer):
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    message = answer(chunk(content="a"), {"choices": [choice]}, DONE)

    assert (message.usage.input, message.usage.output) == (3, 2)
