"""However the network cuts a recorded stream, the same events come of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model, RequestFailed
from pi_provider_kit import SseDecoder
from pi_provider_openai._completions_events import CompletionsFeeder
from pi_provider_openai._responses_events import ResponsesFeeder
from pi_testing.fake_servers.openai import call, completion, reasoning, response, text

BLOCKS = (
    reasoning("Hm, ", "\N{THINKING FACE}."),
    text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
    call("call_1", "read", path="\u00e4\n\N{CAT FACE}"),
    call("call_2", "write", path="b", content='"quoted"'),
)

STREAMS = {
    "completions": (CompletionsFeeder, completion(*BLOCKS).body),
    "responses": (ResponsesFeeder, response(*BLOCKS).body),
    "completions with CRLF": (CompletionsFeeder, completion(*BLOCKS).body.replace(b"\n", b"\r\n")),
}

MODEL = Model(id="gpt-fake", name="Fake", api="x", provider="fake")


def seen(make, pieces):
    """Return what somebody sees who listens: kinds, deltas and the final message."""
    decoder, feeder, events = SseDecoder(), make(MODEL), []
    try:
        for piece in pieces:
            for _, data in decoder.feed(piece):
                events += feeder.feed(data)
        for _, data in decoder.close():
            events += feeder.feed(data)
        events += feeder.end()
    except RequestFailed as problem:
        events.append(feeder.builder.end_for(problem))
    last = events[-1]
    message = last.message if last.type == "done" else last.error
    shown = [(event.type, getattr(event, "delta", None)) for event in events]
    return shown, message.content, message.stop_reason, message.error_message


@pytest.mark.parametrize("name", STREAMS)
def test_cut_at_every_byte(name):
    make, body = STREAMS[name]
    whole = seen(make, [body])

    assert whole[2] == "toolUse"
    for at in range(1, len(body)):
        assert seen(make, [body[:at], body[at:]]) == whole
    assert seen(make, [body[at : at + 1] for at in range(len(body))]) == whole


@pytest.mark.parametrize("name", STREAMS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_cut_anywhere(name, data):
    make, body = STREAMS[name]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=40)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]

    assert seen(make, pieces) == seen(make, [body])


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ends_early_is_an_error_that_keeps_the_text_and_runs_no_call(name):
    make, body = STREAMS[name]
    complete = seen(make, [body])[1]

    for end in range(len(body)):
        _, content, stop, error = seen(make, [body[:end]])
        if stop != "toolUse":
            assert stop == "error"
            assert error
        for block in content:
            assert block.type != "toolCall" or block in complete
