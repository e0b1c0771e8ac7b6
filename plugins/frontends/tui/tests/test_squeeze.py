"""What is written in fewer bytes draws the same picture."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st

from pi_tui.squeeze import squeezed

WIDTH, HEIGHT = 12, 16

styles = st.sampled_from(["", "1", "38;2;220;223;228", "3;38;5;4", "48;2;1;2;3", "7"])
texts = st.sampled_from(["tide", " ", "  ", "     ", "é漢", "low water at", "x"])
segments = st.tuples(styles, texts).map(lambda each: f"\x1b[{each[0]}m{each[1]}\x1b[0m" if each[0] else each[1])
moves = st.tuples(st.integers(1, 4), st.integers(1, WIDTH)).map(lambda each: f"\x1b[{each[0]};{each[1]}H")
rows = st.tuples(moves, st.lists(segments, max_size=4).map("".join)).map("".join)
others = st.sampled_from(["\x1b[?2026h", "\x1b[K", "\x1b[2J", "\x1b]0;title\x07", "\x1b[?25l"])


def drawn(*written):
    """Return the cells of a screen that was full before, and where its cursor is."""
    screen = pyte.Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    stream.feed("\x1b[1;1H" + "#" * (WIDTH * HEIGHT - 1))
    for each in written:
        stream.feed(each)
    return [[screen.buffer[y][x] for x in range(WIDTH)] for y in range(HEIGHT)]


@given(st.lists(st.one_of(rows, others), max_size=8), st.booleans())
def test_the_picture_is_the_same(parts, newlines):
    data = "\x1b[1;1H" + ("\r\n" if newlines else "").join(parts) + "\x1b[1;1H"
    shorter = squeezed(data, WIDTH)

    assert drawn(shorter) == drawn(data)
    assert drawn(shorter, "\x1b[2;2Hlater") == drawn(data, "\x1b[2;2Hlater"), "no style is left behind"


def test_a_frame_has_each_style_once_and_no_spaces_to_the_end_of_rows():
    gray = "\x1b[38;2;220;223;228m"
    data = f"\x1b[1;1H{gray} \x1b[0m{gray}tide\x1b[0m       \r\n\x1b[2;1H{gray} \x1b[0m{gray}high\x1b[0m\x1b[3;1H"

    assert squeezed(data, WIDTH) == f"\x1b[1;1H{gray} tide\x1b[0m\x1b[K\x1b[2;1H{gray} high\x1b[3;1H\x1b[0m"


def test_what_it_does_not_know_is_written_as_it_is():
    data = "\x1b[?2026h\x1bM\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\\x1b[?2026l"

    assert squeezed(data, WIDTH) == data
