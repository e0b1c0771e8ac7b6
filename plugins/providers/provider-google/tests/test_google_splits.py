"""However the network cuts a recorded stream, the same events come of it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import Model, RequestFailed
from pi_provider_google._reading import Reading
from pi_provider_kit import SseDecoder
from pi_testing.fake_servers.google import answer, call, text, thought, wrapped

BLOCKS = (
    thought("Hm, ", "\N{THINKING FACE}.", signature="c2ln"),
    text("Gr\u00fc", "\u00dfe \N{GRINNING FACE}\n", "\u2028 end"),
    call("read", call_id="call_1", path="\u00e4\n\N{CAT FACE}"),
    call("write", path="b", content='"quoted"', signature="c2ln"),
)

STREAMS = {
    "gemini": answer(*BLOCKS).body,
    "code assist": wrapped(answer(*BLOCKS)).body,
    "with CRLF": answer(*BLOCKS).body.replace(b"\n", b"\r\n"),
}

MODEL = Model(id="gemini-fake", name="Fake", api="google-generative-ai", provider="fake")

OUR_ID = re.compile(r"_\d+_(\d)'")


def seen(pieces):
    """Return what somebody sees who listens: kinds, deltas and the final message, our own ids without their time."""
    decoder, reading, events = SseDecoder(), Reading(MODEL), []
    try:
        for piece in pieces:
            for _, data in decoder.feed(piece):
                events += reading.feed(data)
        for _, data in decoder.close():
            events += reading.feed(data)
        events += reading.end()
    except RequestFailed as problem:
        events.append(reading.builder.end_for(problem))
    last = events[-1]
    message = last.message if last.type == "done" else last.error
    shown = [(event.type, getattr(event, "delta", None)) for event in events]
    content = [OUR_ID.sub(r"_\1'", repr(block)) for block in message.content]
    return shown, content, message.stop_reason, message.error_message


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


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_ends_early_is_an_error_that_keeps_the_text(name):
    body = STREAMS[name]
    complete = seen([body])[1]

    for end in range(len(body)):
        _, content, stop, error = seen([body[:end]])
        if stop != "toolUse":
            assert stop == "error"
            assert error
        assert [block for block in content if block.startswith("ToolCall") and block not in complete] == []
