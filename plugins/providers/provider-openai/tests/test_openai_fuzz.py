"""Whatever a host puts into its events, they end in a message or in an error that pi knows."""

from __future__ import annotations

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_core import wire
from pi_hookspecs import Model, RequestFailed
from pi_provider_openai._completions_events import CompletionsFeeder
from pi_provider_openai._responses_events import ResponsesFeeder
from pi_testing.fake_servers.openai import call, completion_events, reasoning, response_events, text

BLOCKS = (reasoning("Hm", "."), text("Hel", "lo"), call("c1", "read", path="a"), call("c2", "ls"))

DETAILS = {"choices": [{"delta": {"reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]}}]}

RECORDED = {
    "completions": (CompletionsFeeder, [DETAILS, *completion_events(*BLOCKS)]),
    "responses": (ResponsesFeeder, response_events(*BLOCKS)),
}

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from([2**70, 10**400]) | st.floats()
    | st.text(max_size=8) | st.sampled_from(["\ud83d", "\ude00", "a\ud83db", "error", "function_call"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=6,
)  # fmt: skip


def places(value, path=()):
    """Return the ways to every value inside."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*path, key))


def changed(events, path, value):
    events = deepcopy(events)
    *way, last = path
    target = events
    for step in way:
        target = target[step]
    target[last] = value
    return events


@pytest.mark.parametrize("api", RECORDED)
@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_value_at_any_place(api, data):
    make, events = RECORDED[api]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in places(events) if path]))
        events = changed(events, path, data.draw(ANYTHING))
    check(read(make, api, events))


@pytest.mark.parametrize("api", RECORDED)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_any_events_in_any_order(api, data):
    make, events = RECORDED[api]
    check(read(make, api, data.draw(st.lists(st.sampled_from(events), max_size=2 * len(events)))))


def read(make, api, events):
    feeder = make(Model(id="gpt-fake", name="Fake", api=api, provider="fake"))
    heard = []
    try:
        for event in events:
            for each in feeder.feed(json.dumps(event).encode()):
                heard.append(each)
                feeder.builder.partial()
        heard += feeder.end()
    except RequestFailed as problem:
        heard.append(feeder.builder.end_for(problem))
    return heard


def check(heard):
    last = heard[-1]
    message = last.message if last.type == "done" else last.error
    ids = [call.id for call in message.tool_calls]

    assert sum(event.type in ("done", "error") for event in heard) == 1
    assert all(event.delta.encode() for event in heard if hasattr(event, "delta"))
    assert all(ids)
    assert len(set(ids)) == len(ids)
    assert all(call.name for call in message.tool_calls)
    stored = json.dumps(wire.to_wire(message), allow_nan=False)
    assert wire.message_from_wire(json.loads(stored)).content == message.content
    if last.type == "error":
        assert message.error_message.endswith(".")
