"""Whatever a host puts into its events, they end in a message or in an error that pi knows."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
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
    path = data.draw(st.sampled_from([path for path in places(events) if path]))
    feeder = make(Model(id="gpt-fake", name="Fake", api=api, provider="fake"))
    try:
        for event in changed(events, path, data.draw(ANYTHING)):
            for _ in feeder.feed(orjson.dumps(event)):
                feeder.builder.partial()
        for _ in feeder.end():
            pass
    except RequestFailed as problem:
        end = feeder.builder.end_for(problem)
    else:
        end = None

    assert feeder.finished if end is None else end.reason == "error"
