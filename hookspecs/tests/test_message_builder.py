"""The builder turns a codec's steps into events, and keeps what was received whatever happens."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import MessageBuilder, Model, TextContent, ThinkingContent, ToolCall

MODEL = Model(id="m", name="M", api="a", provider="p")


@pytest.fixture
def builder():
    return MessageBuilder(MODEL)


def test_a_text_answer_has_the_events_of_the_contract(builder):
    events = [
        builder.start(),
        builder.text_start(),
        builder.text(0, "Hel"),
        builder.text(0, "lo"),
        builder.text_end(0),
        builder.done(),
    ]

    assert [event.type for event in events] == ["start", "text_start", "text_delta", "text_delta", "text_end", "done"]
    assert events[4].content == "Hello"
    assert events[5].message.text == "Hello"
    assert events[5].reason == "stop"


def test_an_answer_with_a_call_stops_for_its_tool(builder):
    index = builder.tool_call_start("1", "read").content_index
    builder.tool_call(index, '{"path": ')
    builder.tool_call(index, '"a.py"}')
    end = builder.tool_call_end(index)

    assert end.tool_call == ToolCall("1", "read", {"path": "a.py"})
    assert builder.done().reason == "toolUse"


@pytest.mark.parametrize("text", ["", "  "])
def test_no_argument_text_is_an_empty_object(builder, text):
    index = builder.tool_call_start("1", "ls").content_index
    builder.tool_call(index, text)

    assert builder.tool_call_end(index).tool_call.arguments == {}
    assert builder.tool_call_end(index).tool_call.arguments_error is None


@pytest.mark.parametrize(("text", "says"), [("{", "not valid JSON"), ("[1]", "must be a JSON object, not list")])
def test_arguments_that_are_no_object_say_so(builder, text, says):
    index = builder.tool_call_start("1", "ls").content_index
    builder.tool_call(index, text)

    call = builder.tool_call_end(index).tool_call

    assert call.arguments == {}
    assert says in call.arguments_error


def test_a_failure_keeps_the_text_and_drops_half_a_call(builder):
    builder.text_start()
    builder.text(0, "So far")
    builder.tool_call_start("1", "bash")
    builder.tool_call(1, '{"command": "rm')

    error = builder.fail(RuntimeError("cut"))

    assert error.reason == "error"
    assert error.error.error_message == "cut"
    assert error.error.content == (TextContent("So far"),)


def test_an_abort_has_the_contracts_error_message(builder):
    error = builder.abort()

    assert (error.reason, error.error.error_message) == ("aborted", "Request was aborted")


def test_a_partial_that_was_kept_stays_as_it_was(builder):
    builder.text_start()
    early = builder.text(0, "one").partial
    builder.text(0, " two")

    assert early.text == "one"
    assert builder.partial().text == "one two"
    assert early.stop_reason == "pending"


def test_partial_arguments_are_parsed_only_on_access():
    looked = []
    builder = MessageBuilder(MODEL, parse_partial=lambda text: looked.append(text) or {"seen": len(text)})
    builder.tool_call_start("1", "write")
    event = builder.tool_call(0, '{"path": "x')

    assert looked == []
    assert event.partial.tool_calls[0].arguments == {"seen": 11}


@given(st.lists(st.tuples(st.sampled_from(["text", "thinking", "call"]), st.lists(st.text(), max_size=5)), max_size=6))
def test_what_goes_in_comes_out(blocks):
    builder = MessageBuilder(MODEL)
    expected = []
    for kind, parts in blocks:
        whole = "".join(parts)
        if kind == "text":
            index = builder.text_start().content_index
            deltas = [builder.text(index, part).delta for part in parts]
            builder.text_end(index)
            expected += [TextContent(whole)] if whole else []
        elif kind == "thinking":
            index = builder.thinking_start().content_index
            deltas = [builder.thinking(index, part).delta for part in parts]
            builder.thinking_end(index)
            expected += [ThinkingContent(whole)] if whole else []
        else:
            index = builder.tool_call_start("id", "tool").content_index
            text = json.dumps({"value": parts})
            deltas = [builder.tool_call(index, character).delta for character in text]
            builder.tool_call_end(index)
            expected.append(ToolCall("id", "tool", {"value": parts}))
            whole = text
        assert "".join(deltas) == whole

    assert list(builder.done().message.content) == expected
