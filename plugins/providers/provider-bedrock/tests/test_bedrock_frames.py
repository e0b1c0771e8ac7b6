"""Frames of the event stream: our decoder and botocore's agree on every stream, however it is cut or damaged."""

from __future__ import annotations

import zlib
from itertools import pairwise
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_hookspecs import RequestFailed
from pi_provider_bedrock.frames import FrameDecoder
from pi_testing import for_each
from pi_testing.fake_servers.bedrock import event, message, text, thinking, tool_use

pytestmark = pytest.mark.slow  # loads the vendor's SDK

eventstream = pytest.importorskip("botocore.eventstream")

NAMES = st.text(min_size=1, max_size=40).filter(lambda name: len(name.encode()) <= 255)
VALUES = st.one_of(
    st.booleans().map(lambda value: (0 if value else 1, value, b"")),
    st.integers(-(2**7), 2**7 - 1).map(lambda value: (2, value, pack(">b", value))),
    st.integers(-(2**15), 2**15 - 1).map(lambda value: (3, value, pack(">h", value))),
    st.integers(-(2**31), 2**31 - 1).map(lambda value: (4, value, pack(">i", value))),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: (5, value, pack(">q", value))),
    st.binary(max_size=50).map(lambda value: (6, value, pack(">H", len(value)) + value)),
    st.text(max_size=50).map(lambda value: (7, value, pack(">H", len(value.encode())) + value.encode())),
    st.integers(-(2**63), 2**63 - 1).map(lambda value: (8, value, pack(">q", value))),
    st.binary(min_size=16, max_size=16).map(lambda value: (9, value, value)),
)
FRAMES = st.lists(st.tuples(st.dictionaries(NAMES, VALUES, max_size=5), st.binary(max_size=200)), max_size=5)

RECORDED = message(thinking("Hm", " \N{SNOWMAN}"), text("Hel", "lo"), tool_use("t1", "read", path="ä")).body


def encoded(headers, payload):
    raw = b"".join(
        pack(">B", len(name.encode())) + name.encode() + bytes([kind]) + value
        for name, (kind, _, value) in headers.items()
    )
    prelude = pack(">II", 16 + len(raw) + len(payload), len(raw))
    whole = prelude + pack(">I", zlib.crc32(prelude)) + raw + payload
    return whole + pack(">I", zlib.crc32(whole))


def ours(pieces):
    """Return the frames, and whether the stream was refused."""
    decoder, frames = FrameDecoder(), []
    try:
        for piece in pieces:
            frames += decoder.feed(piece)
    except RequestFailed:
        return frames, True
    return frames, False


def theirs(data):
    buffer, frames = eventstream.EventStreamBuffer(), []
    buffer.add_data(data)
    try:
        frames.extend((frame.headers, frame.payload) for frame in buffer)  # keeps what came before a refusal
    except Exception:  # noqa: BLE001 - what it raises for a damaged header is not one class
        return frames, True
    return frames, False


def cut(data, places):
    ends = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[begin:end] for begin, end in pairwise(ends)]


@settings(max_examples=8 * settings().max_examples, deadline=None)
@given(frames=FRAMES, places=st.lists(st.integers(0, 10_000), max_size=8))
def test_decoder_reads_what_botocore_reads(frames, places):
    data = b"".join(encoded(headers, payload) for headers, payload in frames)
    expected = [({name: value for name, (_, value, _) in headers.items()}, payload) for headers, payload in frames]

    assert ours(cut(data, places)) == theirs(data) == (expected, False)


@settings(max_examples=8 * settings().max_examples, deadline=None)
@given(at=st.integers(0, len(RECORDED) - 1), flip=st.integers(1, 255), places=st.lists(st.integers(0, 10_000)))
def test_decoder_refuses_what_botocore_refuses(at, flip, places):
    damaged = bytearray(RECORDED)
    damaged[at] ^= flip
    frames, refused = ours(cut(bytes(damaged), places))

    assert (frames, refused) == theirs(bytes(damaged))
    assert refused


@for_each("size", [1, 2, 3, 11, 12, 13, 100])
def test_every_split_gives_the_same_frames(size):
    pieces = [RECORDED[at : at + size] for at in range(0, len(RECORDED), size)]

    assert ours(pieces) == theirs(RECORDED)


def test_a_long_frame_in_many_pieces_is_one():
    long = event("contentBlockDelta", {"delta": {"text": "x" * 1_000_000}, "contentBlockIndex": 0})
    frames, refused = ours(long[at : at + 1000] for at in range(0, len(long), 1000))

    assert (len(frames), refused) == (1, False)


@for_each("end", [1, 11, 12, 30, len(RECORDED) - 1])
def test_a_stream_that_ends_in_a_frame_says_so(end):
    decoder = FrameDecoder()
    list(decoder.feed(RECORDED[:end]))

    with pytest.raises(RequestFailed, match="ended before a frame was complete"):
        decoder.close()


@pytest.mark.parametrize("total", [0, 15, 2**32 - 1, 25 * 1024 * 1024])
def test_lengths_that_cannot_be_are_refused_at_once(total):
    prelude = pack(">II", total, 0)

    with pytest.raises(RequestFailed, match="is impossible"):
        list(FrameDecoder().feed(prelude + pack(">I", zlib.crc32(prelude))))


def test_a_header_that_comes_twice_is_refused():
    one = pack(">B", 1) + b"a" + bytes([0])
    prelude = pack(">II", 16 + 2 * len(one), 2 * len(one))
    whole = prelude + pack(">I", zlib.crc32(prelude)) + one + one

    with pytest.raises(RequestFailed, match="'a' twice"):
        list(FrameDecoder().feed(whole + pack(">I", zlib.crc32(whole))))
