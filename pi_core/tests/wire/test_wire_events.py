"""Events that a client receives are those that were sent."""

from __future__ import annotations

import json

import pytest

from pi_core.wire import to_wire
from pi_core.wire.events import event_from_wire
from pi_hookspecs import (
    AutoRetryStartEvent,
    BashExecutionUpdateEvent,
    CompactionEndEvent,
    MessageBuilder,
    MessageUpdateEvent,
    Model,
    PiError,
    QueueUpdateEvent,
    SessionInfoChangedEvent,
)
from pi_hookspecs.samples import sample_event
from pi_testing import for_each

RUN = "agent_start agent_end agent_settled turn_start turn_end message_start message_end".split()
TOOLS = "tool_execution_start tool_execution_update tool_execution_end".split()
NOTICES = [
    QueueUpdateEvent(steering=("a",), follow_up=("b", "c")),
    SessionInfoChangedEvent(name="demo"),
    SessionInfoChangedEvent(),
    BashExecutionUpdateEvent(delta="x", id="1"),
    CompactionEndEvent(reason="manual", aborted=True),
    AutoRetryStartEvent(attempt=1, max_attempts=3, delay_ms=10, error_message="529"),
]


@for_each("event", [*map(sample_event, [*RUN, *TOOLS]), *NOTICES])
def test_an_event_survives_the_wire(event):
    sent = json.loads(json.dumps(to_wire(event)))

    received = event_from_wire(sent)

    assert type(received) is type(event)
    assert to_wire(received) == sent


def stream():
    builder = MessageBuilder(Model(id="m", name="m", api="a", provider="p"))
    yield builder.start()
    yield builder.text_start()
    yield builder.text(0, "hello")
    yield builder.text_end(0)
    yield builder.thinking_start()
    yield builder.thinking(1, "hm")
    yield builder.thinking_end(1)
    yield builder.tool_call_start("call", "bash")
    yield builder.tool_call(2, '{"command": "ls"}')
    yield builder.tool_call_end(2)
    yield builder.done()
    yield builder.fail("529")


@for_each("step", [*stream()])
def test_a_change_of_an_answer_survives_the_wire(step):
    sent = json.loads(json.dumps(to_wire(step)))

    received = event_from_wire({"type": "message_update", "usage": {}, "assistantMessageEvent": sent})

    assert type(received) is MessageUpdateEvent
    assert type(received.assistant_message_event) is type(step)
    assert to_wire(received.assistant_message_event) == sent


def test_a_received_change_has_no_partial_message():
    change = {"type": "text_delta", "contentIndex": 0, "delta": "x"}

    received = event_from_wire({"type": "message_update", "assistantMessageEvent": change})

    with pytest.raises(PiError, match="accumulate its deltas"):
        received.message  # noqa: B018 - looking is the test


@pytest.mark.parametrize("data", [{"type": "weather"}, {}, {"type": None}])
def test_an_unknown_event_is_none(data):
    assert event_from_wire(data) is None


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"type": "message_update"}, "type None, which is unknown"),
        ({"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": "x"}}, "contentIndex"),
        ({"type": "queue_update", "steering": 1, "followUp": []}, "steering"),
        ({"type": "tool_execution_start", "toolName": "x", "args": {}}, "toolCallId"),
    ],
)
def test_a_damaged_event_is_explained(data, problem):
    with pytest.raises(PiError, match=problem):
        event_from_wire(data)
