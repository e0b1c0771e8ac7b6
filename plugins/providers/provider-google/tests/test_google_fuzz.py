"""Whatever a host puts into its chunks, they end in a message or in an error that pi knows."""

from __future__ import annotations

from copy import deepcopy

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model, RequestFailed
from pi_provider_google._reading import Reading
from pi_testing.fake_servers.google import answer_events, call, error_event, text, thought

RECORDED = [
    *answer_events(
        thought("Hm", signature="c2ln"), text("Hel", "lo"), call("read", call_id="c1", path="a"), call("ls")
    ),
    {"response": answer_events(text("in a wrapper"))[0]},
    {"promptFeedback": {"safetyRatings": []}},
]

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=8), below, max_size=3),
    max_leaves=6,
)  # fmt: skip

PART = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=4),
        "thought": st.booleans(),
        "thoughtSignature": st.sampled_from(["", "c2ln", "bW9yZQ=="]),
        "functionCall": st.fixed_dictionaries(
            {"name": st.sampled_from(["read", "ls"])},
            optional={"id": st.sampled_from(["", "a", "b"]), "args": st.dictionaries(st.text(max_size=2), ANYTHING)},
        ),
    },
)


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


def run(events):
    reading, seen = Reading(Model(id="gemini-fake", name="Fake", api="x", provider="fake")), []
    try:
        for event in events:
            for each in reading.feed(orjson.dumps(event)):
                seen.append(each)
                reading.builder.partial()
        seen += reading.end()
    except RequestFailed as problem:
        seen.append(reading.builder.end_for(problem))
    return seen


@settings(max_examples=400, deadline=None)
@given(data=st.data())
def test_any_value_at_any_place(data):
    path = data.draw(st.sampled_from([path for path in places(RECORDED) if path]))
    events = run(changed(RECORDED, path, data.draw(ANYTHING)))

    assert events[-1].type in ("done", "error")


@settings(max_examples=300, deadline=None)
@given(parts=st.lists(PART, max_size=8), end=st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", None]))
def test_any_order_of_parts(parts, end):
    chunks = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    events = run([*chunks, {"candidates": [{"finishReason": end}]}])

    last = events[-1]
    message = last.message if last.type == "done" else last.error
    said = "".join(part.get("text", "") for part in parts if "functionCall" not in part and not part.get("thought"))
    assert "".join(block.text for block in message.content if block.type == "text") == said
    assert [call.name for call in message.tool_calls] == [
        part["functionCall"]["name"] for part in parts if "functionCall" in part
    ]
    assert len({call.id for call in message.tool_calls}) == len(message.tool_calls)
    opened = [event.content_index for event in events if event.type.endswith("_start")]
    assert opened == list(range(len(opened)))
    assert len([event for event in events if event.type.endswith("_end")]) in (len(opened), len(opened) - 1)


def test_an_error_event_ends_it():
    assert run([RECORDED[0], error_event(500, "Oh.")])[-1].type == "error"
