"""What becomes of the API's chunks: blocks, signatures, calls, usage, reasons to stop."""

from __future__ import annotations

import pytest

from pi_hookspecs import ModelCost
from pi_testing.fake_servers.google import answer_events, call, error_event, text, thought


def chunk(*parts, **candidate):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **candidate}]}


STOP = {"candidates": [{"finishReason": "STOP"}]}


def test_text_and_thinking_alternate(fed, final, make_model):
    blocks = (thought("Hm", "."), text("One. "), thought("Oh."), text("Two."))
    message = final(fed(make_model(), *answer_events(*blocks)))

    assert [(block.type, getattr(block, "thinking", None) or block.text) for block in message.content] == [
        ("thinking", "Hm."),
        ("text", "One. "),
        ("thinking", "Oh."),
        ("text", "Two."),
    ]


@pytest.mark.parametrize(
    "parts",
    [
        [{"text": "a", "thoughtSignature": "Zmlyc3Q="}, {"text": "b"}],
        [{"text": "a"}, {"text": "b", "thoughtSignature": "Zmlyc3Q="}],
        [{"text": "ab"}, {"text": "", "thoughtSignature": "Zmlyc3Q="}],
    ],
    ids=["first", "last", "behind"],
)
@pytest.mark.parametrize("thinks", [False, True])
def test_a_signature_stays_with_its_block(fed, final, make_model, parts, thinks):
    parts = [{**part, "thought": True} if thinks else part for part in parts]
    message = final(fed(make_model(), *map(chunk, parts), STOP))

    (block,) = message.content
    assert (block.thinking_signature if thinks else block.text_signature) == "Zmlyc3Q="
    assert (block.thinking if thinks else block.text) == "ab"


def test_a_signature_alone_behind_a_call_is_kept(fed, final, make_model):
    calls = {"functionCall": {"name": "read", "args": {}}}
    message = final(fed(make_model(), chunk(calls), chunk({"text": "", "thoughtSignature": "c2ln"}), STOP))

    assert [block.type for block in message.content] == ["toolCall", "text"]
    assert message.content[1].text_signature == "c2ln"


def test_calls_without_ids_get_some_of_ours(fed, final, make_model):
    blocks = (text("I read."), call("read", path="a"), call("read", path="b", signature="c2ln"), call("ls"))
    message = final(fed(make_model(), *answer_events(*blocks)))

    calls = message.tool_calls
    assert [(each.name, each.arguments) for each in calls] == [
        ("read", {"path": "a"}),
        ("read", {"path": "b"}),
        ("ls", {}),
    ]
    assert [each.id.rpartition("_")[2] for each in calls] == ["1", "2", "3"]
    assert all(each.id.startswith(f"{each.name}_1") for each in calls)
    assert calls[1].thought_signature == "c2ln"
    assert message.stop_reason == "toolUse"


def test_an_id_given_twice_is_used_once(fed, final, make_model):
    message = final(fed(make_model(), *answer_events(call("read", call_id="c1"), call("read", call_id="c1"))))

    first, second = (each.id for each in message.tool_calls)
    assert first == "c1"
    assert second.startswith("read_")


def test_a_call_comes_whole(fed, make_model):
    events = fed(make_model(), *answer_events(call("read", path="\N{SNOWMAN}")))

    assert [event.type for event in events] == ["start", "toolcall_start", "toolcall_delta", "toolcall_end", "done"]
    assert events[2].delta == '{"path":"\N{SNOWMAN}"}'


def test_a_call_without_a_name_is_an_error(fed, final, make_model):
    message = final(fed(make_model(), chunk({"text": "a"}), chunk({"functionCall": {"args": {}}}), STOP))

    assert message.text == "a"
    assert "a function call has no name" in message.error_message


def test_calls_run_even_where_the_answer_was_too_long(fed, final, make_model):
    message = final(fed(make_model(), *answer_events(call("read", path="a"), finish="MAX_TOKENS")))

    assert (message.stop_reason, len(message.tool_calls)) == ("toolUse", 1)


def test_tokens(fed, final, make_model):
    counted = {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 40,
        "toolUsePromptTokenCount": 5,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 3,
        "totalTokenCount": 115,
    }
    model = make_model(cost=ModelCost(input=1_000_000, output=1_000_000, cache_read=500_000))
    usage = final(fed(model, *answer_events(text("a"), usage=counted))).usage

    assert (usage.input, usage.cache_read, usage.output, usage.reasoning, usage.total_tokens) == (65, 40, 10, 3, 115)
    assert usage.cost.total == 65 + 20 + 10


def test_who_answered_is_kept(fed, final, make_model):
    message = final(fed(make_model(), *answer_events(text("a"), model="gemini-fake-002", response_id="r1")))

    assert (message.response_id, message.response_model) == ("r1", "gemini-fake-002")
    assert final(fed(make_model(), *answer_events(text("a")))).response_model is None


def test_a_reason_in_every_chunk_does_not_end_the_answer(fed, final, make_model):
    message = final(
        fed(make_model(), chunk({"text": "Hel"}, finishReason="STOP"), chunk({"text": "lo"}, finishReason="STOP"))
    )

    assert (message.text, message.stop_reason) == ("Hello", "stop")


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("SAFETY", "Google withheld the answer (finish reason 'SAFETY'): It is unsafe.\nRephrase the request"),
        ("PROHIBITED_CONTENT", "Google withheld the answer"),
        ("SOMETHING_NEW", "Google withheld the answer (finish reason 'SOMETHING_NEW')"),
        ("MALFORMED_FUNCTION_CALL", "The model made a call that Google cannot read"),
        ("OTHER", "Google ended the answer without a reason"),
    ],
)
def test_reasons_that_are_errors(fed, final, make_model, reason, words):
    events = answer_events(text("Hel"), finish=reason, finish_message="It is unsafe.")
    message = final(fed(make_model(), *events))

    assert (message.text, message.stop_reason, message.raw_stop_reason) == ("Hel", "error", reason)
    assert words in message.error_message


def test_a_prompt_that_a_filter_does_not_let_through(fed, final, make_model):
    feedback = {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "It is unsafe."}}
    message = final(fed(make_model(), feedback))

    assert message.error_message == (
        "Google blocked the prompt (SAFETY): It is unsafe.\nRephrase the request, or choose another model."
    )


def test_an_answer_without_a_reason_is_not_complete(fed, final, make_model):
    message = final(fed(make_model(), *answer_events(text("Hel"), finish=None)))

    assert message.text == "Hel"
    assert message.error_message.startswith("Google stream ended without a finish reason")


def test_an_error_in_the_midst(fed, final, make_model):
    message = final(fed(make_model(), chunk({"text": "Hel"}), error_event(503, "The model is overloaded.")))

    assert message.text == "Hel"
    assert '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}' in message.error_message
    assert message.extra["requestFailure"] == {"status": 503}


def test_chunks_in_the_wrapper_of_cloud_code_assist(fed, final, make_model):
    events = [{"response": each, "traceId": "t"} for each in answer_events(text("Hel", "lo"))]

    assert final(fed(make_model("google-gemini-cli"), *events)).text == "Hello"


def test_what_is_unknown_is_passed_over(fed, final, make_model):
    events = (
        {},
        {"candidates": []},
        {"candidates": [{}]},
        chunk({"executableCode": {"code": "1"}}, {"inlineData": {}}, {"text": 7}, {"text": "a"}),
        {"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": "many"}},
    )

    assert final(fed(make_model(), *events)).text == "a"


def test_halves_of_a_character_meet_in_the_next_part(fed, final, make_model):
    first = b'{"candidates":[{"content":{"parts":[{"text":"so \\ud83d"}]}}]}'
    second = b'{"candidates":[{"content":{"parts":[{"text":"\\ude00."}]},"finishReason":"STOP"}]}'

    assert final(fed(make_model(), first, second)).text == "so \N{GRINNING FACE}."


@pytest.mark.parametrize("reason", ["STOP", "stop", "end_turn"])
def test_other_words_for_the_same_end(fed, final, make_model, reason):
    message = final(fed(make_model(), *answer_events(text("Hel"), finish=reason)))

    assert (message.text, message.stop_reason, message.raw_stop_reason) == ("Hel", "stop", reason)


def test_a_call_of_a_tool_that_was_not_declared_goes_to_the_loop(fed, final, make_model):
    called = {"functionCall": {"name": "nosuch", "args": {"a": 1}}}
    with_call = final(fed(make_model(), chunk(called, finishReason="UNEXPECTED_TOOL_CALL")))
    without = final(fed(make_model(), chunk({"text": "Hm"}, finishReason="UNEXPECTED_TOOL_CALL")))

    assert (with_call.stop_reason, [each.arguments for each in with_call.tool_calls]) == ("toolUse", [{"a": 1}])
    assert without.error_message.startswith("Stream ended without a usable call")


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"code": 503, "message": "No room."}},
        {"error": "No room."},
        {"detail": "No room."},
        {"code": 503, "message": "No room."},
        b"No room.",
    ],
    ids=str,
)
def test_an_error_in_any_shape(fed, final, make_model, error):
    before = final(fed(make_model(), chunk({"text": "Hel"}), error))
    after = final(fed(make_model(), chunk({"text": "Hel"}, finishReason="STOP"), error))

    assert (before.text, before.stop_reason) == ("Hel", "error")
    assert "No room." in before.error_message
    assert (after.text, after.stop_reason) == ("Hel", "stop")


@pytest.mark.parametrize(
    "last", [{}, {"promptTokenCount": 0, "candidatesTokenCount": 0}, {"promptTokenCount": 0, "candidatesTokenCount": 4}]
)
def test_a_report_of_zeros_takes_nothing_back(fed, final, make_model, last):
    first = {"promptTokenCount": 9, "cachedContentTokenCount": 6, "candidatesTokenCount": 4}
    chunks = ({**chunk({"text": "a"}, finishReason="STOP"), "usageMetadata": usage} for usage in (first, last))
    usage = final(fed(make_model(), *chunks)).usage

    assert (usage.input, usage.cache_read, usage.output) == (3, 6, 4)


@pytest.mark.parametrize("data", [b"{not json", b"[1]", b"null", b"7"])
def test_what_is_no_event_is_an_error(fed, final, make_model, data):
    message = final(fed(make_model(), chunk({"text": "Hel"}), data))

    assert message.text == "Hel"
    assert "Google stream is broken" in message.error_message
