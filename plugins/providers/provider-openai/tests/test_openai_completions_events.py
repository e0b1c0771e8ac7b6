"""Chunks of Chat Completions, as hosts send them and as no host should."""

from __future__ import annotations

import json

import pytest

from pi_hookspecs import Context, ModelCost, StreamOptions
from pi_provider_kit import SentTools
from pi_provider_openai.completions_compat import DEFAULTS
from pi_provider_openai.completions_events import CompletionsFeeder, completions_usage
from pi_provider_openai.completions_messages import to_messages
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
    assert message.error_message.startswith("Stream ended without the name of a tool call, whose arguments are '{}'")
    assert (message.text, message.tool_calls) == ("Let me see.", ())


def test_no_calls_where_calls_were_announced_is_an_error_that_is_tried_again(answer):
    message = answer(chunk(content="a", tool_calls=[]), chunk("tool_calls", tool_calls=[]), DONE)

    assert (message.text, message.stop_reason) == ("a", "error")
    assert message.error_message.startswith("Stream ended without the tool calls that it announced")


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
    ("reason", "stop"),
    [
        *((word, "stop") for word in ("stop", "end", "eos", "end_turn", "STOP", "weird")),
        *((word, "length") for word in ("length", "max_tokens", "MAX_TOKENS", "model_length")),
    ],
)
def test_finish_reasons_of_many_hosts(answer, reason, stop):
    message = answer(chunk(content="a"), chunk(reason), DONE)

    assert (message.text, message.stop_reason, message.error_message) == ("a", stop, None)
    assert message.raw_stop_reason == reason


@pytest.mark.parametrize("reason", ["tool_calls", "tool_use", "function_call", "stop", "TOOL_CALLS", "eos", "weird"])
def test_finished_calls_run_whatever_word_ends_them(answer, reason):
    message = answer(pieces(piece(0, "a", "read", "{}")), chunk(reason), DONE)

    assert (message.stop_reason, len(message.tool_calls)) == ("toolUse", 1)


@pytest.mark.parametrize(
    ("reason", "advice", "status"),
    [
        ("content_filter", "Rephrase the request, or choose another model.", None),
        ("SAFETY", "Rephrase the request, or choose another model.", None),
        ("error", "The provider has problems: wait a moment, or choose another model.", 500),
        ("insufficient_system_resource", "The provider has problems: wait a moment, or choose another model.", 503),
    ],
)
def test_finish_reasons_that_are_failures(answer, reason, advice, status):
    usage = {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}
    message = answer(chunk(content="a"), chunk(reason), usage, DONE)

    assert (message.text, message.stop_reason) == ("a", "error")
    assert message.error_message == f"Provider finish_reason: {reason}\n{advice}"
    assert message.extra.get("requestFailure", {}).get("status") == status
    assert message.usage.total_tokens == 7


def test_a_reason_that_is_the_word_null_is_none(answer):
    assert answer(chunk("null", content="a"), chunk("stop"), DONE).stop_reason == "stop"
    assert answer(chunk("null", content="a")).stop_reason == "error"


def test_an_unknown_reason_for_nothing_is_an_error(answer):
    assert answer(chunk("weird"), DONE).error_message.startswith("Provider finish_reason: weird")


@pytest.mark.parametrize("delta", [{"content": "Hel"}, {"tool_calls": [piece(0, "a", "read", '{"path": "x"}')]}])
def test_the_mark_of_the_end_completes_an_answer_without_a_finish_reason(answer, delta):
    assert answer(chunk(**delta), DONE).stop_reason == ("stop" if "content" in delta else "toolUse")
    assert answer(chunk(**delta)).error_message.startswith("Stream ended without finish_reason")


@pytest.mark.parametrize("received", [[], [pieces(piece(0, "a", "read", '{"path": "x'))]])
def test_neither_nothing_nor_half_a_call_is_completed_by_it(answer, received):
    assert answer(*received, DONE).error_message.startswith("Stream ended without finish_reason")


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


ERRORS = (
    {"error": {"message": "No room."}},
    {"error": "No room."},
    {"error_message": "No room."},
    {"detail": "No room."},
    {"object": "error", "message": "No room."},
    {"type": "error", "error": {"type": "overloaded_error", "message": "No room."}},
    {"code": 1302, "message": "No room."},
    {"base_resp": {"status_code": 1008, "status_msg": "No room."}},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": None, "error": {"message": "No room."}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}], "error": {"message": "No room."}},
    b'[{"error": {"message": "No room."}}]',
    b"No room.",
)


@pytest.mark.parametrize("error", ERRORS, ids=str)
@pytest.mark.parametrize("before", [(), (chunk(content="Hel"),), (pieces(piece(0, "a", "read", '{"pa')),)], ids=len)
def test_an_error_in_any_shape_is_shown_wherever_it_comes(answer, error, before):
    message = answer(*before, error, DONE)

    assert message.stop_reason == "error"
    assert "No room." in message.error_message
    assert "None:" not in message.error_message
    assert message.text == "".join(each["choices"][0]["delta"].get("content", "") for each in before)


@pytest.mark.parametrize("error", [error for error in ERRORS if b"finish_reason" not in str(error).encode()], ids=str)
@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls"])
def test_an_error_after_the_end_of_the_answer_changes_nothing(answer, error, reason):
    delta = {"tool_calls": [piece(0, "a", "read", "{}")]} if reason == "tool_calls" else {"content": "Hel"}
    message = answer(chunk(**delta), chunk(reason), error, DONE)

    assert message.stop_reason == {"tool_calls": "toolUse"}.get(reason, reason)


@pytest.mark.parametrize("beat", [b"", b" ", b"null", b": ping", b"[PING]", b"keep-alive", b"5"])
def test_a_heartbeat_is_no_part_of_the_answer(answer, beat):
    assert answer(beat, chunk(content="a"), beat, chunk("stop"), beat, DONE).text == "a"


def test_a_broken_byte_costs_one_character(answer):
    data = json.dumps(chunk(content="caf?"), ensure_ascii=False).encode().replace(b"?", b"\xe9")

    assert answer(data, chunk("stop"), DONE).text == "caf\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("native", ["max_output_tokens", "length", "MAX_TOKENS"])
def test_the_limit_of_the_server_behind_counts(answer, native):
    choice = {"index": 0, "delta": {}, "finish_reason": "tool_calls", "native_finish_reason": native}
    message = answer(pieces(piece(0, "a", "write", '{"text": "abc')), {"choices": [choice]}, DONE)

    assert message.stop_reason == "length"
    assert message.tool_calls[0].arguments_error is not None


# Calls in other places and forms


@pytest.mark.parametrize("index", [{}, {"index": 0}, {"index": 1}])
@pytest.mark.parametrize("key", ["delta", "message"])
def test_a_call_in_another_choice_is_found(answer, index, key):
    first = {"index": 0, key: {"content": "Let me see."}, "finish_reason": "tool_calls"}
    second = {**index, key: {"tool_calls": [piece(None, "a", "read", "{}")]}, "finish_reason": "tool_calls"}
    message = answer({"choices": [first, second]}, DONE)

    assert (message.text, [each.name for each in message.tool_calls]) == ("Let me see.", ["read"])


def test_a_second_answer_is_not_mixed_with_the_first(answer):
    choices = [{"index": n, "delta": {"content": word}, "finish_reason": "stop"} for n, word in enumerate("ab")]

    assert answer({"choices": choices}, DONE).text == "a"


def test_the_old_form_of_a_call_of_an_offered_tool_is_a_call(answer, read_tool):
    message = answer(
        chunk(function_call={"name": "read", "arguments": '{"pa'}),
        chunk(function_call={"arguments": 'th": "x"}'}),
        chunk("function_call"),
        DONE,
        tools=[read_tool],
    )

    assert [each.arguments for each in message.tool_calls] == [{"path": "x"}]


def test_a_single_call_that_is_no_list_is_a_call(answer):
    message = answer(chunk(tool_calls=piece(0, "a", "read", "{}")), chunk("tool_calls"), DONE)

    assert [each.name for each in message.tool_calls] == ["read"]


@pytest.mark.parametrize(
    "empty",
    [{"index": 1, "id": "", "function": {"name": ""}}, {"index": 1}, {"function": None}, {"index": 1, "id": "b"}],
)
def test_an_empty_call_beside_a_good_one_is_left_out(answer, empty):
    message = answer(pieces(piece(0, "a", "read", "{}")), pieces(empty), chunk("tool_calls"), DONE)

    assert [(each.id, each.name) for each in message.tool_calls] == [("a", "read")]


@pytest.mark.parametrize("call_id", [None, "", "same"])
@pytest.mark.parametrize("index", [0, None])
def test_calls_with_one_index_and_no_id_of_their_own_are_two(answer, call_id, index):
    message = answer(
        pieces(piece(index, call_id, "read", '{"path": "x"}')),
        pieces(piece(index, call_id, "read", '{"path": "y"}')),
        pieces(piece(index, call_id, "ls", "{}")),
        chunk("tool_calls"),
        DONE,
    )

    made = message.tool_calls
    assert [(each.name, each.arguments) for each in made] == [
        ("read", {"path": "x"}),
        ("read", {"path": "y"}),
        ("ls", {}),
    ]
    assert len({each.id for each in made}) == 3


@pytest.mark.parametrize(
    "pieces_of", [('{"path": "x"}', '{"path": "x"}'), ("{", '{"path": "x"}'), ('{"pa', '{"path": "x"}')]
)
@pytest.mark.parametrize("name", [None, "read"])
def test_arguments_that_are_sent_again_are_taken_once(answer, pieces_of, name):
    first, again = pieces_of
    message = answer(
        pieces(piece(0, "a", "read", first)), pieces(piece(0, "a", name, again)), chunk("tool_calls"), DONE
    )

    assert [each.arguments for each in message.tool_calls] == [{"path": "x"}]


@pytest.mark.parametrize("arguments", ["null", "", None, "{}", "[]", '""', {}])
def test_arguments_that_are_nothing_are_an_empty_object(answer, arguments):
    call = {"index": 0, "id": "a", "function": {"name": "now", "arguments": arguments}}
    message = answer(pieces(call), chunk("tool_calls"), DONE)

    assert [(each.arguments, each.arguments_error) for each in message.tool_calls] == [({}, None)]


def test_several_calls_in_one_are_taken_apart_if_all_are_offered(answer, read_tool):
    uses = [{"recipient_name": f"functions.{name}", "parameters": {"path": "x"}} for name in ("read", "read")]
    call = piece(0, "a", "multi_tool_use.parallel", json.dumps({"tool_uses": uses}))
    apart = answer(pieces(call), chunk("tool_calls"), DONE, tools=[read_tool])
    unknown = answer(pieces(call), chunk("tool_calls"), DONE)

    assert [(each.id, each.name, each.arguments) for each in apart.tool_calls] == [
        ("a_0", "read", {"path": "x"}),
        ("a_1", "read", {"path": "x"}),
    ]
    assert [each.name for each in unknown.tool_calls] == ["multi_tool_use.parallel"]


@pytest.mark.parametrize(
    "generation",
    [
        '{"name": "read", "arguments": {"file": "a"}}',
        '{"name": "functions.read", "parameters": {"file": "a"}}'.replace("functions.", ""),
        '<function=read={"file": "a"}</function>',
        '<function=read>{"file": "a"}</function>',
        '<tool_call>{"name": "read", "arguments": {"file": "a"}}</tool_call>',
        '<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"file": "a"}<|tool_call_end|>',
    ],
)
def test_a_call_that_the_host_could_not_read_goes_to_the_tool(answer, generation):
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": generation}
    message = answer(chunk(reasoning="Hm."), {"error": error})

    assert (message.stop_reason, message.error_message) == ("toolUse", None)
    assert [(each.name, each.arguments) for each in message.tool_calls] == [("read", {"file": "a"})]


@pytest.mark.parametrize(
    "generation", ["", "I cannot.", '{"name": 5}', '<function=read={"file": </function>', "<function="]
)
def test_a_generation_that_is_no_call_stays_an_error(answer, generation):
    error = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": generation}

    assert "Failed to call" in answer({"error": error}).error_message


@pytest.mark.parametrize("place", ["call", "call-plain", "message", "message-plain"])
def test_google_s_signature_is_kept_and_sent_back(answer, make_model, place):
    signed = (
        {"thought_signature": "QUJD"}
        if "plain" in place
        else {"extra_content": {"google": {"thought_signature": "QUJD"}}}
    )
    call = {**piece(0, "a", "read", "{}"), **(signed if "call" in place else {})}
    message = answer(chunk(tool_calls=[call], **(signed if "message" in place else {})), chunk("tool_calls"), DONE)

    sent = to_messages(
        make_model(), Context(messages=(message,)), StreamOptions(), DEFAULTS, SentTools((), make_model())
    )

    assert message.tool_calls[0].thought_signature == "QUJD"
    assert sent[0]["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "QUJD"}}


def test_the_signature_of_a_text_is_sent_back_with_the_message(answer, make_model):
    message = answer(chunk(content="a"), chunk("stop", extra_content={"google": {"thought_signature": "QUJD"}}), DONE)

    sent = to_messages(
        make_model(), Context(messages=(message,)), StreamOptions(), DEFAULTS, SentTools((), make_model())
    )

    assert sent[0]["extra_content"] == {"google": {"thought_signature": "QUJD"}}


def test_the_last_signature_that_is_not_empty_is_kept(answer):
    first, real, last = (
        chunk(reasoning_details=[{"type": "reasoning.text", "index": 0, "text": "H", "signature": signature}])
        for signature in ("", "sig", "")
    )
    message = answer(first, real, last, chunk(content="a"), chunk("stop"), DONE)

    assert '"signature":"sig"' in message.content[0].thinking_signature


# Whole messages


def test_a_whole_message_after_its_deltas_is_not_added_to_them(answer):
    whole = {"index": 0, "delta": {}, "message": {"content": "Hello world"}, "finish_reason": "stop"}
    message = answer(chunk(content="Hello "), chunk(content="world"), {"choices": [whole]}, DONE)

    assert message.text == "Hello world"


def test_a_whole_message_beside_an_empty_delta_is_the_answer(answer):
    whole = {"index": 0, "delta": {"content": ""}, "message": {"content": "Hello"}, "finish_reason": "stop"}

    assert answer({"choices": [whole]}, DONE).text == "Hello"


def test_calls_that_only_the_whole_message_has_are_read(answer):
    whole = {"message": {"content": "Hm", "tool_calls": [piece(0, "a", "read", "{}")]}, "finish_reason": "tool_calls"}
    message = answer(chunk(content="Hm"), {"choices": [whole]}, DONE)

    assert (message.text, [each.name for each in message.tool_calls]) == ("Hm", ["read"])


def test_content_that_is_an_object_is_its_json(answer):
    assert answer(chunk(content={"sum": 4}), chunk("stop"), DONE).text == '{"sum":4}'


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
        # reasoning beside the completion, in it, and only in the total
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 410,
                "prompt_tokens_details": {"cached_tokens": 60},
                "completion_tokens_details": {"reasoning_tokens": 300},
            },
            (40, 310, 60, 0, 300),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 310,
                "total_tokens": 410,
                "completion_tokens_details": {"reasoning_tokens": 300},
            },
            (100, 310, 0, 0, 300),
        ),
        ({"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109}, (35, 74, 0, 0, 62)),
        # the cache beside the prompt, and one prompt read and written
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 1015,
                "prompt_tokens_details": {"cached_tokens": 1000},
            },
            (10, 5, 1000, 0, 0),
        ),
        (
            {
                "prompt_tokens": 2168,
                "completion_tokens": 100,
                "total_tokens": 2268,
                "prompt_tokens_details": {"cached_tokens": 2161, "cache_write_tokens": 2161},
            },
            (7, 100, 2161, 0, 0),
        ),
        # audio is in the total only
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 35,
                "completion_tokens_details": {"audio_tokens": 20},
            },
            (10, 5, 0, 0, 0),
        ),
    ],
)
def test_usage(make_model, usage, expected):
    found = completions_usage(usage, make_model())

    assert (found.input, found.output, found.cache_read, found.cache_write, found.reasoning) == expected


def test_what_was_billed_replaces_the_estimate(make_model):
    found = completions_usage({"prompt_tokens": 1, "cost": 0.25}, make_model())

    assert (found.cost.total, found.cost.total_from_provider) == (0.25, True)


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": 0}, 0.0),
        ({"cost": {"input_tokens_cost": 0.1, "total_cost": 0.25}}, 0.25),
        ({"estimated_cost": 0.25}, 0.25),
        ({"cost_in_usd_ticks": 2_488_500}, 0.00024885),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.24}}, 0.25),
        ({"cost": 0.25, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.25}}, 0.25),
    ],
)
def test_what_hosts_bill_is_taken(make_model, usage, dollars):
    cost = completions_usage({"prompt_tokens": 1000, **usage}, make_model()).cost

    assert (cost.total, cost.total_from_provider) == (pytest.approx(dollars), True)


@pytest.mark.parametrize(
    ("tier", "model", "factor"),
    [("flex", "gpt-5.4", 0.5), ("priority", "gpt-5.4", 2), ("priority", "gpt-5.5", 2.5), ("default", "gpt-5.4", 1)],
)
def test_the_service_tier_that_answered_changes_the_price(answer, make_model, tier, model, factor):
    priced = make_model(id=model, cost=ModelCost(input=5, output=10))
    usage = {"choices": [], "service_tier": tier, "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 1_000_000}}
    cost = answer(chunk(content="a"), chunk("stop"), usage, DONE, model=priced).usage.cost

    assert (cost.input, cost.output, cost.total) == (5 * factor, 10 * factor, 15 * factor)


@pytest.mark.parametrize(
    "last",
    [
        {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
        {"prompt_tokens": None, "prompt_tokens_details": None},
        {"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}},
        {},
    ],
)
def test_a_report_of_zeros_takes_nothing_back(answer, last):
    first = {"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}}
    message = answer({**chunk(content="a"), "usage": first}, chunk("stop"), {"choices": [], "usage": last}, DONE)

    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (4, 6, 4)


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
