"""Chunks of an answer, as the API sends them and as no server should."""

from __future__ import annotations

import re

import pytest

from pi_hookspecs import ModelCost
from pi_testing.fake_servers.mistral import call, completion_events, error_body, text, thinking

DONE = b"[DONE]"


@pytest.fixture
def answer(fed, final):
    """The message that chunks make."""

    def message(*data, model=None):
        return final(fed(*data, model=model))

    return message


def chunk(finish=None, **delta):
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def piece(name="read", arguments="", **known):
    return {"function": {"name": name, "arguments": arguments}, **known}


def thought(*texts, **more):
    return {"type": "thinking", "thinking": [{"type": "text", "text": each} for each in texts], **more}


def test_thinking_text_and_calls_in_order(fed, final):
    events = fed(
        *completion_events(
            thinking("Hm", ".", signature="c2ln"), text("Hel", "lo"), call("aB3dE6gH9", "read", path="a"), text("Well.")
        ),
        DONE,
    )

    assert [event.type for event in events] == [
        "start",
        *("thinking_start", "thinking_delta", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_delta", "text_end"),
        *("toolcall_start", "toolcall_delta"),
        *("text_start", "text_delta", "text_end"),
        *("toolcall_end", "done"),
    ]
    message = final(events)
    thinks, words, made, more = message.content
    assert (thinks.thinking, thinks.thinking_signature) == ("Hm.", "c2ln")
    assert (words.text, more.text) == ("Hello", "Well.")
    assert (made.id, made.name, made.arguments) == ("aB3dE6gH9", "read", {"path": "a"})
    assert (message.stop_reason, message.raw_stop_reason) == ("toolUse", "tool_calls")
    assert (message.response_id, message.response_model) == ("cmpl-fake", None)
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (11, 7, 18)


def test_one_chunk_may_hold_thinking_and_text(answer):
    content = [thought("A", "B"), {"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "C"}, "D"]
    message = answer(chunk(content=content), chunk("stop", content=""), DONE)

    assert [(block.type, getattr(block, "thinking", None) or block.text) for block in message.content] == [
        ("thinking", "AB"),
        ("text", "CD"),
    ]


def test_a_signature_alone_is_kept(answer):
    message = answer(chunk(content=[thought(signature="c2ln")]), chunk("stop", content="So."), DONE)

    assert message.content[0].thinking_signature == "c2ln"
    assert message.text == "So."


def test_the_answering_model_is_recorded_where_it_differs(answer):
    message = answer({**chunk("stop", content="x"), "model": "mistral-large-2512"}, DONE)

    assert message.response_model == "mistral-large-2512"


# Calls


def test_pieces_of_a_call_are_joined_by_number(answer):
    message = answer(
        chunk(tool_calls=[piece(id="aB3dE6gH9", index=0, arguments='{"path"')]),
        chunk(tool_calls=[piece("", ':"a"', id="null", index=0)]),
        chunk("tool_calls", tool_calls=[{"function": {"arguments": "}"}}]),
        DONE,
    )

    (made,) = message.tool_calls
    assert (made.id, made.arguments) == ("aB3dE6gH9", {"path": "a"})


def test_pieces_that_repeat_id_and_name_are_one_call(answer):
    pieces = [piece(id="aB3dE6gH9", index=0, arguments=each) for each in ('{"path"', ':"a"}')]
    message = answer(*(chunk(tool_calls=[each]) for each in pieces), chunk("tool_calls"), DONE)

    assert [each.arguments for each in message.tool_calls] == [{"path": "a"}]


def test_calls_that_all_have_the_number_0_are_distinguished_by_id(answer):
    calls = [piece(id=each, index=0, arguments=f'{{"path":"{each}"}}') for each in ("aaaaaaaaa", "bbbbbbbbb")]
    message = answer(chunk("tool_calls", tool_calls=calls), DONE)

    assert [(each.id, each.arguments["path"]) for each in message.tool_calls] == [
        ("aaaaaaaaa", "aaaaaaaaa"),
        ("bbbbbbbbb", "bbbbbbbbb"),
    ]


@pytest.mark.parametrize("unsaid", [{}, {"id": None}, {"id": ""}, {"id": "null"}])
def test_calls_without_an_id_get_one_each(answer, unsaid):
    calls = [piece(index=number, arguments="{}", **unsaid) for number in (0, 1)]
    message = answer(chunk("tool_calls", tool_calls=calls), DONE)

    ids = [each.id for each in message.tool_calls]
    assert len(set(ids)) == 2
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", each) for each in ids)


def test_an_id_given_twice_stays_with_the_first(answer):
    calls = [piece(id="aaaaaaaaa", index=number, arguments="{}") for number in (0, 1)]
    message = answer(chunk("tool_calls", tool_calls=calls), DONE)

    first, second = message.tool_calls
    assert first.id == "aaaaaaaaa"
    assert second.id != "aaaaaaaaa"


@pytest.mark.parametrize(("sent", "expected"), [({"path": "a"}, {"path": "a"}), ({}, {}), ("", {}), (None, {})])
def test_arguments_may_be_an_object(answer, sent, expected):
    message = answer(chunk("tool_calls", tool_calls=[piece(id="aaaaaaaaa", arguments=sent)]), DONE)

    assert message.tool_calls[0].arguments == expected


def test_arguments_that_are_almost_json_are_repaired(answer):
    message = answer(chunk("tool_calls", tool_calls=[piece(id="aaaaaaaaa", arguments="{'path': 'a',}")]), DONE)

    (made,) = message.tool_calls
    assert (made.arguments, made.arguments_error) == ({"path": "a"}, None)


def test_a_call_without_a_name_is_an_error(answer):
    message = answer(chunk(content="I"), chunk("tool_calls", tool_calls=[piece("", "{}", id="aaaaaaaaa")]), DONE)

    assert (message.stop_reason, message.text) == ("error", "I")
    assert "without a name" in message.error_message


# Ends


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        *(("stop", "stop"), ("length", "length"), ("model_length", "length"), ("tool_calls", "error")),
        *(("eos", "stop"), ("end_turn", "stop"), ("MAX_TOKENS", "length"), ("weird", "stop")),
    ],
)
def test_why_an_answer_stopped(answer, raw, reason):
    message = answer(chunk(raw, content="x"), DONE)

    assert (message.stop_reason, message.raw_stop_reason) == (reason, raw)


def test_a_call_makes_any_good_end_a_tool_turn(answer):
    message = answer(chunk("stop", tool_calls=[piece(id="aaaaaaaaa", arguments="{}")]), DONE)

    assert message.stop_reason == "toolUse"


@pytest.mark.parametrize("raw", ["error", "content_filter"])
def test_other_reasons_are_failures_that_keep_the_text(answer, raw):
    message = answer(chunk(content="some"), chunk(raw), DONE)

    assert (message.stop_reason, message.raw_stop_reason, message.text) == ("error", raw, "some")
    assert message.error_message.startswith(f"Provider finish_reason: {raw}")


@pytest.mark.parametrize("end", [(), (DONE,)])
def test_a_stream_without_a_reason_is_not_complete(answer, end):
    message = answer(chunk(content="some"), *end)

    assert message.error_message.startswith("Stream ended without finish_reason")
    assert message.text == "some"


def test_what_comes_behind_the_end_is_ignored(fed):
    events = fed(chunk("stop", content="x"), DONE, chunk(content="more"), b"no json")

    assert events[-1].message.text == "x"


# Errors in the midst of an answer


def test_an_error_in_the_midst_is_worded_as_one_before(answer):
    message = answer(chunk(content="some"), error_body(429, "Rate limit exceeded", code="1300"))

    assert message.error_message.startswith(
        'Mistral API error (429): {"object":"error","message":"Rate limit exceeded"'
    )
    assert message.extra["requestFailure"]["status"] == 429
    assert message.text == "some"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"error": "Overloaded"}, "Overloaded"),
        ({"error": {"message": "Overloaded", "code": 503}}, 'Mistral API error (503): {"message":"Overloaded"'),
        ({"object": "error", "message": "Bad", "code": "3230"}, '{"object":"error","message":"Bad"'),
    ],
)
def test_errors_of_other_shapes(answer, event, words):
    assert answer(event).error_message.startswith(words)


@pytest.mark.parametrize("data", [b"nonsense", b"[1]", b"1", b'"x"', b"\xff", b"{" * 100_000])
def test_what_is_no_object_is_an_error(answer, data):
    message = answer(chunk(content="some"), data)

    assert (message.stop_reason, message.text) == ("error", "some")
    assert "not a JSON object" in message.error_message


# Characters, tokens


@pytest.mark.parametrize("kind", ["text", "thinking"])
def test_halves_of_a_character_meet(answer, kind):
    def output(raw):
        part = (
            b'"%s"' % raw if kind == "text" else b'[{"type":"thinking","thinking":[{"type":"text","text":"%s"}]}]' % raw
        )
        return b'{"choices":[{"delta":{"content":%s}}]}' % part

    message = answer(output(rb"a\ud83d"), output(rb"\ude00b\ud83d"), output(b"c"), chunk("stop"), DONE)

    (block,) = message.content
    assert getattr(block, kind) == "a\N{GRINNING FACE}bc"


def test_a_half_without_the_other_is_dropped(answer):
    lost = b'{"choices":[{"delta":{"content":"\\ud83d"}}]}'
    message = answer(lost, chunk(content=[thought("b")]), chunk("stop"), DONE)

    assert [getattr(block, "thinking", None) for block in message.content] == ["b"]


COUNTS = {
    "nothing cached": ({}, (100, 0)),
    "details": ({"prompt_tokens_details": {"cached_tokens": 60}}, (40, 60)),
    "details, as it was spelt first": ({"prompt_token_details": {"cached_tokens": 60}}, (40, 60)),
    "a field of its own": ({"num_cached_tokens": 60}, (40, 60)),
    "more than there were": ({"num_cached_tokens": 160}, (0, 100)),
    "nonsense": ({"num_cached_tokens": "60", "prompt_tokens_details": []}, (100, 0)),
}


@pytest.mark.parametrize("case", COUNTS)
def test_cached_tokens_are_counted_once(answer, make_model, case):
    more, (fresh, cached) = COUNTS[case]
    model = make_model(cost=ModelCost(input=2, output=6, cache_read=0.2))
    usage = {"prompt_tokens": 100, "completion_tokens": 10, **more}
    message = answer({**chunk("stop", content="x"), "usage": usage}, DONE, model=model)

    assert (message.usage.input, message.usage.cache_read, message.usage.output) == (fresh, cached, 10)
    assert message.usage.total_tokens == 110
    assert message.usage.cost.total == pytest.approx((fresh * 2 + cached * 0.2 + 10 * 6) / 1e6)
