"""Keys that are typed while the event loop stands still."""

from __future__ import annotations

import os

import pytest

from pi_tui.keys.meanwhile import TypedMeanwhile


@pytest.fixture
def pipe():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    yield reading, writing
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize(
    ("typed", "kept", "pressed"),
    [
        (b"abc", b"abc", 0),
        (b"a\x03b\x03", b"ab", 2),
        (b"\x1b[99;5u", b"", 1),
        (b"\x1b[99;5:1u\x1b[99;5:3u", b"\x1b[99;5:3u", 1),
        (b"\x1b[27;5;99~x", b"x", 1),
        (b"\x1b[99u\x1b", b"\x1b[99u\x1b", 0),
    ],
)
def test_ctrl_c_is_counted_and_other_keys_are_kept_in_order(pipe, typed, kept, pressed):
    reading, writing = pipe
    meanwhile = TypedMeanwhile()
    os.write(writing, typed)

    assert meanwhile.read(reading, 1000) == pressed
    assert meanwhile.read(reading, 1000) == 0
    os.write(writing, b"!")
    meanwhile.read(reading, 1000)

    assert meanwhile.take() == kept + b"!"
    assert meanwhile.take() == b""
