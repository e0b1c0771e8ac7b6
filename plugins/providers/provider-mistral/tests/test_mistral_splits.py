"""However the network cuts a recorded stream, the same events come of it; whatever is in it, it ends as it should."""

from __future__ import annotations

from copy import deepcopy

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model, RequestFailed
from pi_provider_kit import AnswerBuilder, SseDecoder
from pi_provider_mistral._reading import Reading
from pi_testing.fake_servers.mistral import call, completion, completion_events, text, thinking

BLOCKS = (
    thinking("Hm, ", "\N{THINKING FACE}.", signature="c2ln"),
    text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
    call("aB3dE6gH9", "read", path="\u00e4\n\N{CAT FACE}"),
    call("zY8xW7vU6", "write", deltas=['{"path":"b",', '"content":"\\"quoted\\""}']),
)

BODY = completion(*BLOCKS).body
STREAMS = {"LF": BODY, "CRLF": BODY.replace(b"\n", b"\r\n")}

MODEL = Model(id="mistral-fake", name="Fake", api="mistral-conversations", provider="mistral")


def seen(pieces):
    """Return what somebody sees who listens: kinds, deltas and the final message."""
    decoder, builder, events = SseDecoder(), AnswerBuilder(MODEL), []
    reading = Reading(builder)
    try:
        for piece in pieces:
            for _, data in decoder.feed(piece):
                events += reading.feed(data)
        for _, data in decoder.close():
            events += reading.feed(data)
        events += reading.end()
    except RequestFailed as problem:
        events.append(builder.end_for(problem))
    last = events[-1]
    message = last.message if last.type == "done" else last.error
    shown = [(event.type, getattr(event, "delta", None)) for event in events]
    return shown, message.content, message.stop_reason, message.error_message


@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_every_byte(name):
    body = STREAMS[name]
    whole = seen([body])

    assert whole[2] == "toolUse"
    for at in range(1, len(body)):
        assert seen([body[:at], body[at:]]) == whole
    assert seen([body[at : at + 1] for at in range(len(body))]) == whole


@pytest.mark.parametrize("name", STREAMS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_cut_anywhere(name, data):
    body = STREAMS[name]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=40)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]

    assert seen(pieces) == seen([body])


def test_a_stream_that_ends_early_is_an_error_that_keeps_the_text_and_runs_no_half_call():
    complete = seen([BODY])[1]

    for end in range(len(BODY)):
        _, content, stop, error = seen([BODY[:end]])
        if stop != "toolUse":
            assert stop == "error"
            assert error
        for block in content:
            assert block.type != "toolCall" or block in complete


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


EVENTS = completion_events(*BLOCKS)
PLACES = [path for path in places(EVENTS) if path]


@settings(max_examples=400, deadline=None)
@given(path=st.sampled_from(PLACES), value=ANYTHING)
def test_any_value_at_any_place_ends_in_a_message_or_an_error(path, value):
    builder = AnswerBuilder(MODEL)
    reading = Reading(builder)
    try:
        for event in changed(EVENTS, path, value):
            for _ in reading.feed(orjson.dumps(event)):
                builder.partial()
        for _ in reading.end():
            pass
    except RequestFailed as problem:
        end = builder.end_for(problem)
    else:
        end = None

    assert reading.finished if end is None else end.reason == "error"
