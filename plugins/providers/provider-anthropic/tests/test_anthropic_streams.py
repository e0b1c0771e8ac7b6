"""Streams become messages: content, usage, stop reasons, however the bytes were cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_core import wire
from pi_hookspecs import Model, ModelCost, TextContent, ThinkingContent, ToolCall
from pi_provider_anthropic.identity import ToolNames
from pi_provider_anthropic.reading import Reading
from pi_provider_anthropic.wire_events import parse_event
from pi_provider_kit import AnswerBuilder, SseDecoder
from pi_testing import ReaderContract, for_each
from pi_testing.fake_servers.anthropic import (
    event,
    message,
    message_events,
    redacted_thinking,
    stream,
    text,
    thinking,
    tool_use,
)

MODEL = Model(
    id="claude-fake",
    name="Fake",
    api="anthropic-messages",
    provider="anthropic",
    cost=ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75),
)


class TestReading(ReaderContract):
    model = MODEL
    events = message_events(
        thinking("Let me", " see: ä", " 日本", signature="c2ln"),
        redacted_thinking("b3BhcXVl"),
        text("Grüße, ", "\N{WAVING HAND SIGN}", ' {"not": json}'),
        tool_use("toolu_1", "read", path="a\nb.txt", deep={"list": [1, 2.5, None, "\N{SNOWMAN}"]}),
        tool_use("toolu_2", "bash", command="ls"),
        usage={"cache_read_input_tokens": 5},
    )
    decoder = SseDecoder

    def make_reader(self, model):
        return Reading(AnswerBuilder(model))

    def received(self, decoded):
        return parse_event(*decoded)


RECORDED = stream(TestReading.events).body


def read(chunks):
    return list(TestReading().read(chunks))


def test_recorded_stream_is_read_completely():
    message = read([RECORDED])[-1].message

    assert message.content == (
        ThinkingContent("Let me see: ä 日本", thinking_signature="c2ln"),
        ThinkingContent("", thinking_signature="b3BhcXVl", redacted=True),
        TextContent('Grüße, \N{WAVING HAND SIGN} {"not": json}'),
        ToolCall("toolu_1", "read", {"path": "a\nb.txt", "deep": {"list": [1, 2.5, None, "\N{SNOWMAN}"]}}),
        ToolCall("toolu_2", "bash", {"command": "ls"}),
    )
    usage = message.usage
    assert message.stop_reason == "toolUse"
    assert (usage.input, usage.output, usage.cache_read, usage.total_tokens) == (11, 7, 5, 23)


@pytest.mark.parametrize("end", [0, 100, len(RECORDED) // 2, len(RECORDED) - 40])
def test_stream_that_breaks_off_says_what_is_missing(end):
    error = read([RECORDED[:end]])[-1].error.error_message

    assert error.startswith("Anthropic stream ended before message_stop")


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.permutations(message_events(text("a", "b"), tool_use("toolu_1", "read", path="x"))),
    st.sets(st.integers(0, 9), max_size=4),
)
def test_events_in_any_order_end_in_one_event_and_never_in_half_a_call(events, left_out):
    kept = [each for number, each in enumerate(events) if number not in left_out]
    reply = read([event(each) for each in kept])

    assert [each.type for each in reply].count("done") + [each.type for each in reply].count("error") == 1
    last = reply[-1].message if reply[-1].type == "done" else reply[-1].error
    deltas = [each["delta"]["partial_json"] for each in kept if each.get("delta", {}).get("type") == "input_json_delta"]
    for call in last.tool_calls:
        if last.stop_reason == "toolUse" and len(deltas) == 2 and call.arguments_error is None:
            assert call.arguments in ({"path": "x"}, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["index", "content_block", "delta", "message", "usage", "error", "type", "text", "partial_json", "id", "name"]
)
KINDS = st.sampled_from(
    "message_start content_block_start content_block_delta content_block_stop message_delta message_stop error text "
    "text_delta tool_use input_json_delta thinking signature_delta".split()
)
NONSENSE = st.recursive(
    JSON | KINDS, lambda inner: st.dictionaries(KEYS, inner | KINDS | st.integers(0, 2), max_size=4), max_leaves=8
)


@given(st.lists(st.tuples(KINDS, NONSENSE), max_size=8))
def test_nonsense_is_an_answer_with_an_error_never_an_exception(events):
    sent = [b"event: %s\ndata: %s\n\n" % (kind.encode(), json.dumps(data).encode()) for kind, data in events]

    assert read(sent)[-1].type in ("done", "error")


def test_halves_of_a_character_meet_in_every_kind_of_block():
    events = message_events(thinking("a<1>", "<2>", "<1>"), text("b<1>", "<2>c<2>"), tool_use("t", "read", path="<1>"))
    sent = [event(each).replace(b"<1>", rb"\ud83d").replace(b"<2>", rb"\ude00") for each in events]
    reply = read(sent)

    thought, answered, call = reply[-1].message.content
    assert (thought.thinking, answered.text) == ("a\N{GRINNING FACE}", "b\N{GRINNING FACE}c")
    assert call.arguments == {"path": ""}
    assert "".join(each.delta for each in reply if hasattr(each, "delta")).encode()


@pytest.mark.parametrize("empty", [text(), text(""), thinking(signature="")], ids=["nothing", "no text", "no thinking"])
def test_an_empty_block_takes_no_index(empty):
    events = read([message(empty, text("a"), empty, tool_use("t", "read", path="x")).body])
    content = events[-1].message.content

    begun = {event.content_index: event.type for event in events if event.type.endswith("_start")}
    assert begun == {0: "text_start", 1: "toolcall_start"}
    assert [type(block) for block in content] == [TextContent, ToolCall]


def test_events_come_in_the_stream_s_order():
    events = read([message(thinking("hm"), text("a", "b"), tool_use("t", "read", path="x")).body])

    assert [event.type for event in events] == (
        "start thinking_start thinking_delta thinking_end text_start text_delta text_delta text_end "
        "toolcall_start toolcall_delta toolcall_delta toolcall_end done"
    ).split()
    assert [getattr(event, "content_index", None) for event in events] == [None, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, None]


@for_each(
    ("stop", "reason"),
    [
        ("end_turn", "stop"),
        ("pause_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_use", "error"),
        ("refusal", "error"),
        ("sensitive", "error"),
        ("something_new", "stop"),
        *((word, "stop") for word in ("stop", "STOP", "eos", "end")),
        *((word, "length") for word in ("length", "MAX_TOKENS", "max_output_tokens")),
        *((word, "error") for word in ("content_filter", "error", "overloaded", "tool_calls")),
    ],
)
def test_stop_reasons(stop, reason):
    last = read([message(text("a"), stop=stop).body])[-1]
    final = last.message if last.type == "done" else last.error

    assert (final.stop_reason, final.raw_stop_reason, final.text) == (reason, stop, "a")


def test_refusal_says_why_and_what_to_do():
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    refused = read([message(text("I"), stop="refusal", stop_details=details).body])[-1].error

    assert refused.error_message == (
        "The model refused to answer (stop reason 'refusal'): Not this.\nRephrase the request, or choose another model."
    )


def test_unknown_stop_reason_is_an_unknown_error():
    assert read([message(stop="novel").body])[-1].error.error_message == (
        "An unknown error occurred (stop reason 'novel')\nSend the prompt again, or choose another model."
    )


def test_usage_counts_long_cache_writes_and_reasoning_and_costs_them():
    usage = {
        "input_tokens": 100,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 500,
        "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 300},
    }
    events = message_events(text("a"), usage=usage)
    events[-2]["usage"] |= {"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 20}}
    used = read([stream(events).body])[-1].message.usage

    assert (used.input, used.output, used.cache_read, used.cache_write) == (100, 50, 1000, 500)
    assert (used.cache_write_1h, used.reasoning, used.total_tokens) == (300, 20, 1650)
    assert used.cost.cache_write == pytest.approx((200 * 3.75 + 300 * 2 * 3) / 1e6)
    assert used.cost.total == pytest.approx((100 * 3 + 50 * 15 + 1000 * 0.3 + 200 * 3.75 + 300 * 6) / 1e6)


def test_usage_of_the_beginning_stays_where_the_end_has_none():
    events = message_events(text("a"))
    events[-2]["usage"] = {"output_tokens": 9, "input_tokens": None, "cache_read_input_tokens": None}
    used = read([stream(events).body])[-1].message.usage

    assert (used.input, used.output) == (11, 9)


def test_calls_that_were_announced_and_did_not_come_are_an_error():
    error = read([message(text("a"), stop="tool_use").body])[-1].error

    assert error.error_message.startswith("Stream ended without the tool calls that it announced")


def test_zeros_at_the_end_take_no_count_back():
    events = message_events(text("a"), usage={"cache_read_input_tokens": 5})
    events[-2]["usage"] = {"output_tokens": 9, "input_tokens": 0, "cache_read_input_tokens": 0}
    used = read([stream(events).body])[-1].message.usage
    events[-2]["usage"] = {"output_tokens": 9, "input_tokens": 3, "cache_read_input_tokens": 0}
    again = read([stream(events).body])[-1].message.usage

    assert (used.input, used.cache_read, used.output) == (11, 5, 9)
    assert (again.input, again.cache_read, again.output) == (3, 0, 9)


@pytest.mark.parametrize("at", range(1, 9))
def test_a_beginning_that_comes_again_changes_nothing(at):
    events = message_events(text("a"), tool_use("toolu_1", "read", path="x"))
    answered = read([stream([*events[:at], events[0], *events[at:]]).body])[-1].message

    assert (answered.text, answered.tool_calls[0].arguments) == ("a", {"path": "x"})


def test_a_block_that_begins_again_before_it_has_content_is_one():
    events = message_events(text("a"), tool_use("toolu_1", "read", path="x"))
    twice = [each for each in events for _ in range(2 if each["type"] == "content_block_start" else 1)]
    answered = read([stream(twice).body])[-1].message

    assert answered.content == (TextContent("a"), ToolCall("toolu_1", "read", {"path": "x"}))


@pytest.mark.parametrize("at", range(1, 9))
def test_a_second_attempt_in_the_same_stream_is_the_answer(at):
    first = message_events(text("no"), tool_use("toolu_1", "read", path="no"), message_id="msg_1")
    second = message_events(text("yes"), tool_use("toolu_2", "read", path="yes"), message_id="msg_2")
    events = read([stream([*first[:at], *second]).body])
    answered = events[-1].message

    assert (answered.text, [each.arguments for each in answered.tool_calls]) == ("yes", [{"path": "yes"}])
    assert answered.response_id == "msg_2"
    for each in events:
        if each.type == "text_end" and each.content == "yes":
            assert answered.content[each.content_index] == TextContent("yes")


@pytest.mark.parametrize(
    "error",
    [
        b'event: error\ndata: {"message": "No room."}\n\n',
        b"event: error\ndata: No room.\n\n",
        b'data: {"error": {"message": "No room."}}\n\n',
        b'data: {"error": "No room."}\n\n',
        b'data: {"detail": "No room."}\n\n',
        b'data: {"type": "error", "error": {"type": "overloaded_error", "message": "No room."}}\n\n',
        b"data: No room.\n\n",
        b'error: {"message": "No room."}\n\n',
        b'{"error": {"message": "No room."}}\n\n',
        b"No room.\n",
    ],
)
@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_error_in_any_shape_is_shown(error, at):
    events = [event(each) for each in message_events(text("a", "b"))]

    assert "No room." in read([*events[:at], error])[-1].error.error_message


def test_an_error_after_the_end_of_the_answer_changes_nothing():
    *events, _ = (event(each) for each in message_events(text("a")))
    answered = read([*events, b'data: {"error": "No room."}\n\n'])[-1].message

    assert (answered.text, answered.stop_reason) == ("a", "stop")


@pytest.mark.parametrize(
    "beat", [b"data:\n\n", b"data: null\n\n", b": ping\n\n", b"event: ping\n\n", b"data: [DONE]\n\n"]
)
def test_a_heartbeat_is_no_event(beat):
    events = [event(each) for each in message_events(text("a"))]

    assert read([beat, *(piece for each in events for piece in (each, beat))])[-1].message.text == "a"


def test_a_stream_whose_last_line_has_no_end_is_complete():
    assert read([RECORDED.rstrip(b"\n")])[-1].message.stop_reason == "toolUse"


def test_a_price_that_a_gateway_bills_is_taken():
    cost = read([message(text("a"), usage={"cost": 0.25}).body])[-1].message.usage.cost

    assert (cost.total, cost.total_from_provider) == (0.25, True)


def test_usage_of_the_beginning_is_known_when_the_stream_breaks_off():
    events = message_events(text("a"))[:3]

    assert read([stream(events).body])[-1].error.usage.input == 11


def test_message_knows_its_id_and_who_answered():
    answered = read([message(text("a"), message_id="msg_1", model="claude-fake-20260101").body])[-1].message

    assert (answered.response_id, answered.response_model, answered.model) == (
        *("msg_1", "claude-fake-20260101"),
        "claude-fake",
    )


def test_half_characters_of_two_deltas_become_one():
    half = json.dumps("\N{WAVING HAND SIGN}")[1:-1]
    first, second = half[:6], half[6:]
    events = [event(each) for each in message_events(text("FIRST", "SECOND"))]
    sent = b"".join(events).replace(b"FIRST", first.encode()).replace(b"SECOND", second.encode())

    reply = read([sent])

    assert reply[-1].message.text == "\N{WAVING HAND SIGN}"
    assert all(each.delta.isprintable() for each in reply if each.type == "text_delta")


def test_input_that_comes_with_the_beginning_of_a_call_counts():
    events = message_events(tool_use("toolu_1", "read"))
    events[2]["content_block"]["input"] = {"path": "x"}

    assert read([stream(events).body])[-1].message.tool_calls[0].arguments == {"path": "x"}


@pytest.mark.parametrize("data", [None, 5, {"a": 1}], ids=repr)
def test_redacted_thinking_without_its_data_can_be_stored(data):
    events = message_events(redacted_thinking("b3BhcXVl"), text("so"))
    begun = next(each for each in events if each["type"] == "content_block_start")
    begun["content_block"]["data"] = data
    done = read([event(each) for each in events])[-1]

    assert done.message.content[0] == ThinkingContent("", redacted=True)
    assert wire.message_from_wire(wire.to_wire(done.message)).content == done.message.content


def test_text_that_comes_with_the_beginning_of_a_block_counts():
    events = message_events(text("b"), thinking("d", signature=""))
    events[2]["content_block"]["text"] = "a"
    events[5]["content_block"] |= {"thinking": "c", "signature": "s"}
    content = read([stream(events).body])[-1].message.content

    assert content == (TextContent("ab"), ThinkingContent("cd", thinking_signature="s"))


def test_gateway_that_counts_every_block_as_the_first_is_understood():
    events = message_events(text("a"), tool_use("toolu_1", "read", path="x"))
    for each in events:
        if "index" in each:
            each["index"] = 0
    answered = read([stream(events).body])[-1].message

    assert (answered.text, answered.tool_calls[0].arguments) == ("a", {"path": "x"})


def test_call_without_id_gets_one_of_its_own():
    events = message_events(tool_use("", "read", path="x"), tool_use("", "read", path="y"))
    first, second = read([stream(events).body])[-1].message.tool_calls

    assert first.id
    assert second.id
    assert first.id != second.id


def test_what_the_api_may_add_is_passed_over():
    events = message_events(text("a"))
    events.insert(2, {"type": "novel_event", "index": 0})
    events[4:4] = [{"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}]
    events[-2:-2] = [
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "server_tool_use", "id": "s", "name": "w"},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{"}},
        {"type": "content_block_stop", "index": 1},
    ]

    assert read([stream(events).body])[-1].message.content == (TextContent("a"),)


def test_event_is_known_by_its_name_where_its_data_has_no_type():
    events = []
    for each in message_events(text("a")):
        kind = each.pop("type")
        events.append(b"event: %s\ndata: %s\n\n" % (kind.encode(), json.dumps(each).encode()))

    assert read(events)[-1].message.text == "a"


def test_arguments_that_are_almost_json_are_repaired():
    answered = read([message(tool_use("toolu_1", "read", deltas=['{"path": "x",}'])).body])[-1].message

    assert answered.tool_calls[0].arguments == {"path": "x"}
    assert answered.tool_calls[0].arguments_error is None


def test_arguments_of_a_message_that_stopped_for_length_are_not_repaired():
    cut = message(tool_use("toolu_1", "read", deltas=['{"path": "x",']), stop="max_tokens")
    answered = read([cut.body])[-1].message

    assert answered.stop_reason == "length"
    assert answered.tool_calls[0].arguments_error is not None


def test_answer_without_content_is_done():
    answered = read([message().body])[-1].message

    assert (answered.content, answered.stop_reason) == ((), "stop")


def test_replayed_answer_has_what_was_received(model):
    from pi_provider_anthropic.compat import Compat
    from pi_provider_anthropic.messages import answer_messages

    answered = read([RECORDED])[-1].message
    (sent, _) = answer_messages(answered, model(), Compat(), ToolNames((), model(), claude_code=False))

    assert [block["type"] for block in sent["content"]] == [
        *("thinking", "redacted_thinking", "text", "tool_use", "tool_use"),
    ]
    assert sent["content"][0]["signature"] == "c2ln"
    assert sent["content"][1]["data"] == "b3BhcXVl"
