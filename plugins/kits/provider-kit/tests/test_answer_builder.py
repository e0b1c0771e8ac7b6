"""The builder: tolerant while a call grows, careful when it is complete."""

from __future__ import annotations

import pytest

from pi_hookspecs import Aborted, RequestFailed, TextContent
from pi_provider_kit import AnswerBuilder, HttpFailed


@pytest.fixture
def builder(model):
    return AnswerBuilder(model)


def closed_call(builder, text):
    index = builder.tool_call_start("1", "write").content_index
    event = builder.tool_call(index, text)
    return event, builder.tool_call_end(index)


def test_half_received_arguments_are_shown(builder):
    builder.tool_call_start("1", "write")
    event = builder.tool_call(0, '{"path": "a.py", "content": "print(')

    assert event.partial.tool_calls[0].arguments == {"path": "a.py", "content": "print("}


@pytest.mark.parametrize("reason", ["stop", "toolUse"])
def test_a_closed_call_is_repaired_and_says_so(builder, reason):
    _, end = closed_call(builder, "{'path': 'a.py',}")
    message = builder.done(reason).message

    assert end.tool_call.arguments_error is not None
    assert message.tool_calls[0].arguments == {"path": "a.py"}
    assert message.tool_calls[0].arguments_error is None
    assert message.tool_calls[0].extra == {"argumentsRepair": "Repaired the arguments: single quotes, a trailing comma"}
    assert message.stop_reason == "toolUse"


def test_calls_of_one_message_are_distinguished_by_their_ids(builder):
    ids = [builder.tool_call_start(each, "ls").id for each in ("a", "b", "a", "a", "c|fc_1", "c|fc_1")]
    for index in range(6):
        builder.tool_call_end(index)

    assert ids == ["a", "b", "a_2", "a_3", "c|fc_1", "c_2"]
    assert [call.id for call in builder.done().message.tool_calls] == ids


def test_a_message_that_stopped_for_length_is_not_repaired(builder):
    closed_call(builder, "{'path': 'a.py',}")
    call = builder.done("length").message.tool_calls[0]

    assert call.arguments == {}
    assert call.arguments_error is not None


def test_what_cannot_be_repaired_keeps_its_error(builder):
    closed_call(builder, '{"command": "rm -rf /tmp')
    call = builder.done().message.tool_calls[0]

    assert call.arguments_error.startswith("arguments are not valid JSON")


def test_good_arguments_are_left_alone(builder):
    closed_call(builder, '{"path": "a.py"}')
    call = builder.done().message.tool_calls[0]

    assert (call.arguments, call.extra) == ({"path": "a.py"}, {})


def test_a_failure_keeps_the_text_says_what_to_do_and_remembers_the_facts(builder):
    builder.text_start()
    builder.text(0, "So far")
    failure = HttpFailed("429 {}", kind="status", status=429, retry_after_ms=1500, request_id="req_1")
    message = builder.end_for(failure).error

    assert message.content == (TextContent("So far"),)
    assert message.error_message == "429 {}\nWait 2 s, or choose another model."
    assert message.extra == {"requestFailure": {"status": 429, "requestId": "req_1", "retryAfterMs": 1500}}
    assert message.stop_reason == "error"


def test_an_abort_and_other_errors_end_it_too(builder):
    assert builder.end_for(Aborted("enough")).error.error_message == "Request was aborted"
    assert builder.end_for(ValueError("odd")).error.error_message == "odd"
    assert builder.end_for(RequestFailed("Stream ended")).error.extra == {}


@pytest.mark.parametrize("slip", [TypeError("unhashable type: 'list'"), IndexError("out of range"), KeyError("x")])
def test_pythons_message_about_a_mistake_is_put_in_plain_words(builder, slip):
    message = builder.end_for(slip).error.error_message

    assert message.startswith(
        f"The request cannot be made, or its answer cannot be read ({type(slip).__name__}: {slip}). "
    )
    assert "models.json" in message


def test_the_ids_of_earlier_calls_are_not_looked_at_again_for_each_call(builder):
    class CountedId(str):
        __slots__ = ()
        hashed = 0

        def __hash__(self):
            CountedId.hashed += 1
            return str.__hash__(self)

    for number in range(1_000):
        builder.tool_call_start(CountedId(number), "read")

    assert CountedId.hashed < 10 * 1_000


def test_a_repeated_id_of_a_call_is_changed_each_time(builder):
    ids = [builder.tool_call_start(each, "read").id for each in ("a", "a", "a_2", "a", "b|x", "b|x")]

    assert ids == ["a", "a_2", "a_2_2", "a_3", "b|x", "b_2"]
