"""Events come out the same, however the stream was cut and whatever ends its lines."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import RequestFailed
from pi_provider_kit import LineDecoder, SseDecoder


def decode(*chunks):
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.close()


def cut(stream, places):
    edges = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in itertools.pairwise(edges)]


def is_object(data):
    try:
        return isinstance(json.loads(data.decode("utf-8", "replace"), strict=False), dict)
    except ValueError:
        return False


def by_the_standard(stream):
    """The algorithm of the standard over the whole stream, with a line of JSON as an event, and without empty ones."""
    whole = stream.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    *lines, rest = whole.split(b"\n")
    events, data, name = [], [], b""
    for line in lines:
        if not line:
            if b"\n".join(data).strip():
                events.append((name.decode("utf-8", "replace") or "message", b"\n".join(data)))
            data, name = [], b""
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value
        elif is_object(line):
            events.append(("message", line))
    last = rest[5:].removeprefix(b" ")
    if rest.startswith(b"data:") and is_object(b"\n".join((*data, last))):
        data.append(last)
    if b"\n".join(data).strip() and (not rest or is_object(b"\n".join(data))):
        events.append((name.decode("utf-8", "replace") or "message", b"\n".join(data)))
    return [*events, ("message", rest)] if is_object(rest) else events


PIECES = st.sampled_from(
    (
        *(b"data:", b"data: ", b"data", b"event: ", b"event:", b":", b": note", b"id: 7", b"retry: 3", b" ", b"x"),
        *(b"{}", "é😀".encode(), b"\n", b"\n\n", b"\r\n", b"\r", b"\r\n\r\n", b"\xef\xbb\xbf", b"\0", b"\xff"),
    )
)


@given(st.lists(PIECES, max_size=30).map(b"".join), st.lists(st.integers(min_value=0), max_size=10))
def test_any_cut_of_any_stream_gives_the_events_of_the_standard(stream, places):
    events = decode(*cut(stream, places))

    assert [event for event in events if event[0] != "error"] == by_the_standard(stream)


@given(st.lists(PIECES, max_size=30).map(b"".join))
def test_a_stream_may_come_byte_by_byte(stream):
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == decode(stream)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_will_do(end):
    stream = end.join([b": hello", b"event: delta", b'data: {"a":1}', b"", b"data: one", b"data: two", b"", b""])

    for parts in ([stream], [stream[at : at + 1] for at in range(len(stream))]):
        assert decode(*parts) == [("delta", b'{"a":1}'), ("message", b"one\ntwo")]


def test_a_character_cut_in_two_is_whole_again():
    text = "data: Grüße 😀\n\n".encode()

    for at in range(len(text)):
        assert decode(text[:at], text[at:]) == [("message", "Grüße 😀".encode())]


def test_half_a_line_is_no_event():
    assert decode(b'data: {"whole":1}\n\ndata: {"ha') == [("message", b'{"whole":1}')]


@pytest.mark.parametrize("last", [b'data: {"a": 1}', b"data: [DONE]"])
def test_a_last_line_without_an_end_counts_where_it_is_complete(last):
    stream = b"data: {}\n\n" + last

    for at in range(len(stream) + 1):
        events = decode(stream[:at])
        assert len(events) == (at >= len(b"data: {}")) + (at == len(stream)), stream[:at]


@pytest.mark.parametrize(
    "beat", [b"data:", b"data: ", b"data", b"data:\ndata:", b": ping", b"event: ping", b"retry: 10"]
)
def test_a_heartbeat_is_no_event(beat):
    assert decode(beat + b"\n\ndata: x\n\n" + beat + b"\n\n" + beat) == [("message", b"x")]


@pytest.mark.parametrize("before", [b"", b"data: {}\n\n", b": note\n\ndata: {}\n\n"])
@pytest.mark.parametrize(
    ("text", "event"),
    [
        (b'error: {"detail": "no room"}', ("error", b'{"detail": "no room"}')),
        (b"error:no room", ("error", b"no room")),
        (b'{"error": "no room"}', ("message", b'{"error": "no room"}')),
        (b"upstream connect error\n", ("error", b"upstream connect error")),
        (b"<h1>Bad\nGateway</h1>\n", ("error", b"<h1>Bad\nGateway</h1>")),
        (b'{\n "error": "no room"\n}\n', ("error", b'{\n "error": "no room"\n}')),
    ],
)
def test_an_error_that_is_no_event_becomes_one(before, text, event):
    stream = before + text
    expected = [*decode(before), event]

    assert decode(stream) == decode(stream + b"\n\n") == expected
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == expected


def test_a_plain_text_without_an_end_is_an_error_only_where_nothing_came_before():
    assert decode(b"Service Unavailable") == [("error", b"Service Unavailable")]
    assert decode(b"data: {}\n\nevent: en") == decode(b"data: {}\n\neve") == [("message", b"{}")]


def test_text_between_events_is_forgotten():
    assert decode(b"busy\n\ndata: x\n\n") == [("message", b"x")]


def test_an_event_whose_last_empty_line_is_missing_counts():
    assert decode(b"event: end\ndata: x\n") == [("end", b"x")]


def test_a_name_without_data_is_forgotten():
    assert decode(b"event: ping\n\ndata: x\n\n") == [("message", b"x")]


def test_the_last_id_is_kept():
    decoder = SseDecoder()
    decoder.feed(b"id: 12\ndata: x\n\n")

    assert decoder.last_id == "12"


def test_ten_megabytes_in_one_event_arrive():
    piece = b"x" * 4096
    decoder = SseDecoder()
    events = decoder.feed(b"data: ")
    for _ in range(2560):
        events += decoder.feed(piece)
    events += decoder.feed(b"\n\n")

    assert [(name, len(data)) for name, data in events] == [("message", 10 * 1_048_576)]


def test_a_line_without_an_end_is_refused_at_the_limit():
    decoder = SseDecoder(limit=100)
    decoder.feed(b"data: " + b"x" * 90)

    with pytest.raises(RequestFailed, match="more than 100 bytes"):
        decoder.feed(b"x" * 90)


def test_an_event_of_many_lines_is_refused_at_the_limit():
    with pytest.raises(RequestFailed, match="more than 100 bytes"):
        SseDecoder(limit=100).feed(b"data: 0123456789\n" * 20)


def test_json_lines_come_without_their_ends():
    decoder = LineDecoder()

    assert decoder.feed(b'{"a":1}\r\n{"b"') == [b'{"a":1}']
    assert decoder.feed(b":2}\n\n{") == [b'{"b":2}', b""]
    assert decoder.close() == b"{"
    assert decoder.feed(b"x\n") == [b"x"]
