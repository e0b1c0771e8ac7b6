"""Events of Responses, in order and out of it."""

from __future__ import annotations

import json
from copy import deepcopy

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model, ModelCost, RequestFailed
from pi_provider_openai.responses_events import ResponsesFeeder, responses_usage
from pi_testing.fake_servers.openai import call, reasoning, response_events, text


@pytest.fixture
def answer(make_model, fed, final):
    def message(*data, **fields):
        return final(fed(ResponsesFeeder(make_model("openai-responses"), **fields), *data))

    return message


def without(events, *kinds):
    return [event for event in events if event["type"].removeprefix("response.") not in kinds]


WHOLE = response_events(
    reasoning("Hm", "."), text("Hel", "lo", phase="commentary"), call("call_1", "read", path="a"), call("call_2", "ls")
)


def test_text_thinking_and_calls_in_order(make_model, fed, final):
    events = fed(ResponsesFeeder(make_model("openai-responses")), *WHOLE)

    assert [event.type for event in events] == [
        "start",
        *("thinking_start", "thinking_delta", "thinking_delta", "thinking_end"),
        *("text_start", "text_delta", "text_delta", "text_end"),
        *(("toolcall_start", "toolcall_delta", "toolcall_delta", "toolcall_end") * 2),
        "done",
    ]
    message = final(events)
    thinking, words, *calls = message.content
    assert thinking.thinking == "Hm."
    assert json.loads(thinking.thinking_signature) == {
        "type": "reasoning",
        "id": "rs_fake",
        "summary": [{"type": "summary_text", "text": "Hm."}],
        "encrypted_content": "ZW5jcnlwdGVk",
    }
    assert (words.text, json.loads(words.text_signature)) == (
        "Hello",
        {"v": 1, "id": "msg_fake", "phase": "commentary"},
    )
    assert [(each.id, each.name, each.arguments) for each in calls] == [
        ("call_1|fc_call_1", "read", {"path": "a"}),
        ("call_2|fc_call_2", "ls", {}),
    ]
    assert (message.stop_reason, message.raw_stop_reason, message.response_id) == ("toolUse", "completed", "resp_fake")
    assert (message.usage.input, message.usage.output, message.usage.total_tokens) == (11, 7, 18)


@pytest.mark.parametrize(
    "missing",
    [
        ["output_item.added"],
        ["output_item.done"],
        ["output_text.delta", "reasoning_summary_text.delta", "function_call_arguments.delta"],
        ["function_call_arguments.done", "output_text.done"],
        ["output_item.added", "output_item.done"],
        ["created", "in_progress"],
    ],
    ids=" ".join,
)
def test_the_same_message_comes_of_it_when_a_host_leaves_events_out(answer, missing):
    message, whole = answer(*without(WHOLE, *missing)), answer(*WHOLE)

    assert (message.content, message.stop_reason) == (whole.content, whole.stop_reason)


def test_everything_may_come_twice(answer):
    twice = [event for event in WHOLE[:-1] for _ in range(1 if event["type"].endswith(".delta") else 2)]

    assert answer(*twice, WHOLE[-1]).content == answer(*WHOLE).content


def test_items_may_come_interleaved(answer):
    items = [[e for e in WHOLE if e.get("output_index") == number] for number in range(4)]
    mixed = [event for step in range(9) for item in items for event in item[step : step + 1]]

    message = answer(WHOLE[0], *mixed, WHOLE[-1])

    assert {block.type for block in message.content} == {"thinking", "text", "toolCall"}
    assert [each.arguments for each in message.tool_calls] == [{"path": "a"}, {}]
    assert message.text == "Hello"


@settings(max_examples=100, deadline=None)
@given(shuffled=st.permutations(WHOLE))
def test_no_order_of_events_breaks_the_feeder(shuffled):
    feeder = ResponsesFeeder(Model(id="m", name="M", api="openai-responses", provider="fake"))
    try:
        last = [event for data in shuffled for event in feeder.feed(orjson.dumps(data))][-1]
    except RequestFailed:
        return

    assert last.type == "done"


def test_a_stream_that_just_ends_is_an_error_that_keeps_the_text(answer):
    message = answer(*WHOLE[:-1])

    assert message.error_message.startswith("OpenAI Responses stream ended before a terminal response event")
    assert message.text == "Hello"


def test_a_half_received_call_is_never_there(answer):
    end = next(n for n, event in enumerate(WHOLE) if event["type"] == "response.function_call_arguments.delta")
    message = answer(*WHOLE[: end + 1])

    assert (message.stop_reason, message.tool_calls) == ("error", ())


def test_an_end_within_a_call_is_an_error(answer):
    cut = without(WHOLE, "output_item.done", "function_call_arguments.done")
    cut[-1] = {**cut[-1], "response": {"id": "r", "status": "completed"}}
    message = answer(*cut)

    assert message.error_message.startswith("The host ended the answer within a tool call")
    assert message.tool_calls == ()


def test_an_answer_cut_by_the_limit_has_the_reason_length(answer):
    cut = without(
        response_events(text("Hel"), call("c", "read", path="a"), status="incomplete"),
        *("output_item.done", "function_call_arguments.done"),
    )
    message = answer(*cut)

    assert (message.stop_reason, message.text, message.tool_calls) == ("length", "Hel", ())


def test_an_answer_that_was_filtered_is_an_error(answer):
    message = answer(
        *response_events(text("Hel"), status="incomplete", incomplete_details={"reason": "content_filter"})
    )

    assert message.stop_reason == "error"
    assert message.error_message == (
        "Response incomplete: content_filter\nRephrase the request, or choose another model."
    )
    assert message.raw_stop_reason == "incomplete.content_filter"


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_response_that_failed_says_why(answer, status):
    error = {"code": "server_error", "message": "Down"}
    message = answer(*response_events(text("Hel"), status=status, error=error)[:-1], {
        "type": "response.failed" if status == "failed" else "response.completed",
        "response": {"id": "r", "status": status, "error": error},
    })  # fmt: skip

    assert message.error_message == (
        "server_error: Down\nThe provider has problems: wait a moment, or choose another model."
    )
    assert message.extra["requestFailure"] == {"status": 500}
    assert message.text == "Hel"


@pytest.mark.parametrize(
    ("event", "text_"),
    [
        ({"type": "error", "code": "rate_limit_exceeded", "message": "Slow"}, "Error Code rate_limit_exceeded: Slow"),
        ({"type": "error", "error": {"code": "x", "message": "Down"}}, "Error Code x: Down"),
        ({"error": {"type": "x", "message": "Down"}}, "Error Code x: Down"),
        ({"type": "response.failed"}, "Unknown error (no error details in response)"),
        (
            {"type": "response.failed", "response": {"incomplete_details": {"reason": "x"}}},
            "incomplete: x",
        ),
    ],
)
def test_an_error_event_after_text(answer, event, text_):
    end = next(n for n, each in enumerate(WHOLE) if each["type"] == "response.output_text.done")
    message = answer(*WHOLE[:end], event)

    assert (message.text, message.stop_reason) == ("Hello", "error")
    assert message.error_message.startswith(f"{text_}\n")
    assert message.error_message.endswith("choose another model.")


def test_an_empty_answer_is_an_empty_message(answer):
    message = answer(*response_events())

    assert (message.content, message.stop_reason) == ((), "stop")


def test_what_is_not_json_is_an_error(answer):
    message = answer(*WHOLE[:3], b"{")

    assert message.error_message.startswith("The host sent an event that is not JSON")


@pytest.mark.parametrize(
    "odd",
    [
        *([], 5, None, {}, {"type": 5}, {"type": "response.output_item.added"}, {"type": "response.future"}),
        {"type": "response.output_item.added", "output_index": 9, "item": {"type": "web_search_call"}},
        {"type": "response.output_item.done", "output_index": 9, "item": {"type": "web_search_call"}},
        {"type": "response.output_item.done", "output_index": 9, "item": 5},
        {"type": "response.function_call_arguments.delta", "output_index": 9, "delta": "{"},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "x"},
        {"type": "response.output_text.delta", "output_index": 1, "delta": 5},
        {"type": "response.created", "response": 5},
    ],
)
def test_odd_events_do_no_harm(answer, odd):
    end = next(n for n, each in enumerate(WHOLE) if each["type"] == "response.output_text.done")

    assert answer(*WHOLE[:end], odd, *WHOLE[end:]).content == answer(*WHOLE).content


NAMELESS = [
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "function_call", "id": "fc_1"}},
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '{"path":'},
    {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": '"a"}'},
]
NAMED = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "read"}


@pytest.mark.parametrize(
    "end",
    [
        [{"type": "response.output_item.done", "output_index": 0, "item": NAMED}, {"type": "response.completed"}],
        [{"type": "response.completed", "response": {"output": [NAMED]}}],
    ],
    ids=["with its end", "with the response"],
)
@pytest.mark.parametrize("indexed", [True, False])
def test_a_name_that_comes_last_finds_the_arguments(answer, end, indexed):
    events = deepcopy([*NAMELESS, *end])
    for event in [] if indexed else events:
        if event.pop("output_index", None) is not None and "item" not in event:
            event["item_id"] = "fc_1"
    message = answer(*events)

    assert [(call.name, call.arguments) for call in message.tool_calls] == [("read", {"path": "a"})]
    assert message.stop_reason == "toolUse"


@pytest.mark.parametrize(
    "end", [{"type": "response.completed"}, {"type": "response.completed", "response": {"output": []}}]
)
def test_a_call_whose_name_never_comes_is_an_error_and_not_lost(answer, end):
    message = answer(*NAMELESS, end)

    assert message.error_message.startswith("The model made a tool call without a name.")
    assert message.tool_calls == ()


def test_the_same_call_twice_gets_two_ids(answer):
    twice = [{**event, "output_index": number} for number in (0, 1) for event in response_events(call("c", "ls"))[2:-1]]
    message = answer(*twice, {"type": "response.completed"})

    assert [call.id for call in message.tool_calls] == ["c|fc_c", "c_2"]


def test_halves_of_a_character_meet_in_every_kind_of_block(make_model, fed, final):
    events = [
        *(reasoning_delta(0, "a\ud83d"), reasoning_delta(0, "\ude00"), reasoning_delta(0, "\ud83d")),
        {"type": "response.output_item.added", "output_index": 1, "item": {**NAMED, "arguments": ""}},
        *(arguments_delta(1, '{"x": "\ud83d'), arguments_delta(1, '\ude00 \ud83d"}')),
        {"type": "response.output_item.done", "output_index": 1, "item": NAMED},
        {"type": "response.completed"},
    ]
    reply = fed(ResponsesFeeder(make_model("openai-responses")), *map(dumps, events))
    message = final(reply)

    assert message.content[0].thinking == "a\N{GRINNING FACE}"
    assert message.tool_calls[0].arguments == {"x": "\N{GRINNING FACE} "}
    assert "".join(event.delta for event in reply if hasattr(event, "delta")).encode()


def test_arguments_of_half_a_character_change_nothing(answer):
    events = [dumps(event) for event in response_events(call("c", "read", path="a"))]
    done = next(n for n, each in enumerate(events) if b"output_item.done" in each)
    events[done] = dumps(
        {"type": "response.output_item.done", "output_index": 0, "item": {**NAMED, "arguments": "\ud83d"}}
    )
    message = answer(*events)

    assert message.tool_calls[0].arguments == {"path": "a"}


def reasoning_delta(index, text):
    return {"type": "response.reasoning_summary_text.delta", "output_index": index, "summary_index": 0, "delta": text}


def arguments_delta(index, text):
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": text}


def dumps(event):
    return json.dumps(event).encode()


def test_a_call_without_an_id_gets_one_and_one_without_a_name_is_an_error(answer):
    item = {"type": "function_call", "name": "read", "arguments": "{}"}
    good = answer({"type": "response.output_item.done", "output_index": 3, "item": item}, WHOLE[-1] | {"response": {}})
    del item["name"]
    bad = answer({"type": "response.output_item.done", "output_index": 3, "item": item}, WHOLE[-1])

    assert good.tool_calls[0].id == "call_3"
    assert bad.error_message.startswith("The model made a tool call without a name.")


def test_arguments_that_differ_in_the_end_count_as_they_are_in_the_end(answer):
    events = response_events(call("c", "read", path="a"))
    for event in events:
        if event["type"] == "response.output_item.done":
            event["item"]["arguments"] = '{ "path": "b" }'

    assert answer(*events).tool_calls[0].arguments == {"path": "b"}


def test_several_summaries_are_paragraphs(answer):
    def delta(index, words):
        kind = "response.reasoning_summary_text.delta"
        return {"type": kind, "output_index": 0, "summary_index": index, "delta": words}

    item = {"type": "reasoning", "id": "rs", "summary": [{"text": "One."}, {"text": "Two."}]}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    message = answer(delta(0, "One"), delta(0, "."), delta(1, "Two."), done, {"type": "response.completed"})

    assert message.content[0].thinking == "One.\n\nTwo."


def test_open_reasoning_text_is_thinking_too(answer):
    item = {"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]}
    message = answer(
        {"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": "Hm."},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed"}},
    )

    assert message.content[0].thinking == "Hm."


def test_a_refusal_is_text(answer):
    item = {"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "No."}]}
    message = answer(
        {"type": "response.refusal.delta", "output_index": 0, "delta": "No"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed"}},
    )

    assert message.text == "No."


def test_encrypted_reasoning_that_only_the_end_brings_is_kept(answer):
    events = response_events(reasoning("Hm."), text("a"))
    for event in events:
        if event["type"] == "response.output_item.done" and event["item"]["type"] == "reasoning":
            event["item"] = {**event["item"], "encrypted_content": None}

    assert json.loads(answer(*events).content[0].thinking_signature)["encrypted_content"] == "ZW5jcnlwdGVk"


def test_a_namespace_is_kept(answer):
    events = response_events(call("c", "read"))
    for event in events:
        if event["type"] == "response.output_item.done":
            event["item"]["namespace"] = "ns"

    assert answer(*events).tool_calls[0].namespace == "ns"


def test_usage_leaves_the_cache_out_of_the_input(make_model):
    usage = responses_usage(
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
            "output_tokens": 9,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 109,
        },
        make_model("openai-responses"),
    )

    assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == (30, 60, 10, 9, 4)
    assert usage.total_tokens == 109


@pytest.mark.parametrize(
    "blocks",
    [
        (text("part1 "), text("part2")),
        (reasoning("Hm."), text("a")),
        (text("a"), call("c", "read", path="a")),
        (call("c", "read", path="a"), call("d", "ls")),
    ],
    ids=["texts", "thinking and text", "text and call", "calls"],
)
@pytest.mark.parametrize("left_out", [(), ("output_item.added",), ("output_item.done",), ("completed",)], ids=str)
def test_items_may_share_an_index(answer, blocks, left_out):
    events = response_events(*blocks)
    for event in events:  # each item has an id of its own
        if "output_index" in event:
            own, event["output_index"] = f"item_{event['output_index']}", 0
            if "item" in event:
                event["item"] = {**event["item"], "id": own}
            else:
                event["item_id"] = own
    output = events[-1]["response"]["output"]
    events[-1]["response"]["output"] = [{**item, "id": f"item_{n}"} for n, item in enumerate(output)]
    events = without(events, *left_out) + ([b"[DONE]"] if left_out == ("completed",) else [])

    message = answer(*events)

    whole = answer(*response_events(*blocks))
    assert message.text == whole.text
    assert [(each.name, each.arguments) for each in message.tool_calls] == [
        (each.name, each.arguments) for each in whole.tool_calls
    ]
    assert len(message.content) == len(blocks)


def test_an_item_whose_id_differs_in_each_event_is_one(answer):
    events = deepcopy(WHOLE)
    for number, event in enumerate(events):
        if "item" in event:
            event["item"]["id"] = f"{event['item']['type']}_{number}"
        elif "item_id" in event:
            event["item_id"] = f"random_{number}"
    message = answer(*events)

    assert (message.text, [each.arguments for each in message.tool_calls]) == ("Hello", [{"path": "a"}, {}])
    assert len(message.content) == 4


@pytest.mark.parametrize("end", ["{}", "", None])
@pytest.mark.parametrize("as_object", [False, True])
def test_arguments_that_only_their_own_end_has_are_kept(answer, end, as_object):
    events = without(response_events(call("c", "read", path="a")), "function_call_arguments.delta")
    for event in events:
        if event["type"] == "response.function_call_arguments.done":
            event["arguments"] = {"path": "a"} if as_object else '{"path": "a"}'
        for item in (event.get("item"), *event.get("response", {}).get("output", ())):
            if item and item["type"] == "function_call":
                item["arguments"] = end

    assert answer(*events).tool_calls[0].arguments == {"path": "a"}


def test_arguments_that_are_an_object_are_taken(answer):
    item = {**NAMED, "arguments": {"path": "a"}}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}

    assert answer(done, {"type": "response.completed"}).tool_calls[0].arguments == {"path": "a"}


@pytest.mark.parametrize("left_out", [(), ("output_item.added",), ("function_call_arguments.delta",)], ids=str)
def test_several_calls_in_one_are_taken_apart_if_all_are_offered(answer, left_out):
    uses = [{"recipient_name": f"functions.{name}", "parameters": {"path": "x"}} for name in ("read", "ls")]
    events = without(response_events(call("c", "multi_tool_use.parallel", tool_uses=uses)), *left_out)
    apart = answer(*events, tools=["read", "ls"])
    unknown = answer(*events, tools=["read"])

    assert [(each.id, each.name, each.arguments) for each in apart.tool_calls] == [
        ("c_0", "read", {"path": "x"}),
        ("c_1", "ls", {"path": "x"}),
    ]
    assert [each.name for each in unknown.tool_calls] == ["multi_tool_use.parallel"]


@pytest.mark.parametrize(
    "error",
    [
        {"error": {"message": "No room."}},
        {"error": "No room."},
        {"detail": "No room."},
        {"error_message": "No room."},
        {"code": 1302, "message": "No room."},
        {"type": "error", "message": "No room."},
        {"type": "error", "error": {"type": "overloaded_error", "message": "No room."}},
        {"object": "error", "message": "No room."},
        b"No room.",
    ],
    ids=str,
)
def test_an_error_in_any_shape_is_shown(answer, error):
    message = answer(*WHOLE[:5], error)

    assert message.stop_reason == "error"
    assert "No room." in message.error_message
    assert "None" not in message.error_message


def test_the_mark_of_the_end_completes_whole_items_only(answer):
    whole = answer(*without(WHOLE, "completed"), b"[DONE]")
    half = answer(*WHOLE[:-2], b"[DONE]")

    assert (whole.text, whole.stop_reason, len(whole.tool_calls)) == ("Hello", "toolUse", 2)
    assert half.error_message.startswith("OpenAI Responses stream ended before a terminal response event")


@pytest.mark.parametrize(("tier", "factor"), [("flex", 0.5), ("priority", 2), ("default", 1), (None, 1)])
def test_the_service_tier_that_answered_changes_the_price(make_model, fed, final, tier, factor):
    model = make_model("openai-responses", id="gpt-5.4", cost=ModelCost(input=5, output=10))
    events = response_events(text("a"))
    events[-1]["response"] |= {
        "service_tier": tier,
        "usage": {"input_tokens": 1_000_000, "output_tokens": 0, "total_tokens": 1_000_000},
    }

    assert final(fed(ResponsesFeeder(model), *events)).usage.cost.total == 5 * factor


def test_reasoning_beside_the_output_and_ticks_are_counted(make_model):
    usage = {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 410,
        "cost_in_usd_ticks": 5_000_000_000,
        "output_tokens_details": {"reasoning_tokens": 300},
    }
    found = responses_usage(usage, make_model("openai-responses"))

    assert (found.input, found.output, found.reasoning, found.total_tokens) == (100, 310, 300, 410)
    assert (found.cost.total, found.cost.total_from_provider) == (0.5, True)
