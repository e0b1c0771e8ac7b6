"""Output with carriage returns: what a terminal would show at the end, and not what was there before."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st

from pi_testing import for_each
from pi_tools.commands.output import Output
from pi_tools.commands.overwriting import Overwriting, collapse, collapsed


@for_each(
    ("text", "shown"),
    [
        ("plain\nlines\n", "plain\nlines\n"),
        ("crlf\r\nlines\r\n", "crlf\r\nlines\r\n"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("10%\r20%\r\n", "20%\r\n"),
        ("\r10%\r20%", "20%"),
        ("long line\rshort", "shortline"),
        ("long line\r\x1b[Kshort", "short"),
        ("long line\rshort\x1b[K", "short"),
        ("long line\x1b[2K\rshort", "short"),
        ("long line\r\x1b[2Kshort\ndone", "short\ndone"),
        ("\x1b[32m10%\x1b[0m\r\x1b[32m20%\x1b[0m", "\x1b[32m20%\x1b[0m"),
        ("20%\r\x1b[?25h", "20%\x1b[?25h"),
        ("one\x1b[1Gtwo", "two"),
        ("|\b/\b-\b\\\bdone", "done"),
        ("N\bNA\bAME\bE", "NAME"),
        ("\b\bx", "x"),
        ("trailing\r", "trailing\r"),
        ("größer\r１２", "１２ößer"),  # noqa: RUF001 - two wide characters
    ],
)
def test_lines_are_their_last_state(text, shown):
    assert collapse(text) == shown


pieces = st.lists(st.sampled_from(["ab", "c", "\r", "\r", "\n", "\r\n", "\b", "\x1b[K", "\x1b[31m", "é"]), max_size=30)


@given(pieces, st.lists(st.integers(0, 60), max_size=5))
def test_pieces_of_a_stream_give_what_the_whole_does(parts, cuts):
    data = "".join(parts).encode()
    stream, out, at = Overwriting(), b"", 0
    for cut in sorted(cuts):
        out += stream.feed(data[at:cut])
        at = max(at, cut)
    out += stream.feed(data[at:])

    assert out + collapsed(stream.line) == collapsed(data)


def test_binary_data_are_kept_as_they_are():
    data = b"".join(sha256(number.to_bytes(2, "big")).digest() for number in range(2048))

    assert data.count(b"\b") > 100
    assert Overwriting().feed(data) == data[: data.rfind(b"\n") + 1]


def test_many_frames_leave_room_for_what_came_before():
    output = Output()
    output.feed(b"begin\n")
    for number in range(20_000):
        output.feed(b"\rprogress %d of 20000" % number)
    assert output.show() == ("begin\nprogress 19999 of 20000", None)
    output.feed(b"\nend\n")
    output.close()

    assert output.show() == ("begin\nprogress 19999 of 20000\nend\n", None)
    assert output.path is None


def test_a_line_without_an_end_is_not_held_back_for_ever():
    output = Output()
    for _ in range(200):
        output.feed(b"x" * 1000)
    output.close()

    text, details = output.show()
    assert "of line 1 (line is 195.3KB)" in text
    assert details["truncation"]["totalBytes"] == 200_000
