"""No text can act on a terminal once it is clean, however it was cut."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from pi_testing import for_each
from pi_tui.view.clean import CleanStream, clean, clean_line, clean_output, rewritten

fragments = st.sampled_from(
    [
        *("a", " ", "\n", "\t", "\r", "\r\n", "0", "語", "❤", "م", "é", ";", "m", "[", "]", "\\", "?", "P"),
        *("\x1b", "\x1b[31m", "\x1b[2J", "\x1b]52;c;aGk=\x07", "\x1b]0;title\x1b\\", "\x1bPq\x1b\\", "\x1bc", "\x1b["),
        *("\x9b", "\x9b1m", "\x9d0;t\x9c", "\x90", "\x9c", "\x07", "\x18", "\x7f", "\x08", "\x85", "\x1b]8;;http://x"),
        *("\u202e", "\u2066", "\u200b", "\u200d", "\u200c", "\ufe0f", "\u20e3", "\u2028", "\ud800", "\udfff", "\xad"),
    ]
)
texts = st.text() | st.lists(fragments, max_size=12).map("".join)
FORBIDDEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
COLOUR = re.compile(r"\x1b\[[0-9;:]*m")


def in_pieces(text: str, cuts: list[int], *, output: bool) -> str:
    stream = CleanStream(output=output)
    ends = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    return "".join([*map(stream.feed, pieces), stream.end()])


@given(texts)
@example("".join(map(chr, range(0x110000))))
def test_prose_has_no_control_character_left_but_newlines(text):
    assert not FORBIDDEN.search(clean(text))


@given(texts)
def test_output_has_no_control_character_left_but_newlines_and_colours(text):
    assert not FORBIDDEN.search(COLOUR.sub("", clean_output(text)))


@given(texts, st.lists(st.integers(0, 60), max_size=6))
@example("\x1b]52;c;aGk=\x1b\\x", [3, 11])
@example("a\u200d\u200dم", [1, 2, 3])
@example("\x1b[" + "1;" * 40 + "m red", [20, 60, 84])
@example("\x1b[" + "1" * 64 + "  5m", [20, 60, 67, 68])
def test_a_stream_in_pieces_is_cleaned_like_the_whole_text(text, cuts):
    assert in_pieces(text, cuts, output=False) == clean(text)
    assert rewritten(in_pieces(text, cuts, output=True)).replace("\r", "") == clean_output(text)


@given(texts)
def test_what_is_clean_stays_as_it_is(text):
    assert clean(clean(text)) == clean(text)
    assert clean_output(clean_output(text)) == clean_output(text)


@for_each(
    ("text", "expected"),
    [
        ("a\x1b]52;c;aGVsbG8=\x07b", "ab"),
        ("a\x1b]0;owned\x1b\\b", "ab"),
        ("a\x1bP1$qm\x1b\\b", "ab"),
        ("a\x1b_Gi=1;AAAA\x1b\\b", "ab"),
        ("a\x1bcb", "ab"),
        ("a\x9b31mb", "ab"),
        ("a\x1b[2;5Hb", "ab"),
        ("a\x1b]0;never ended\nb", "a\nb"),
        ("a\x1b[12", "a"),
        ("a\u202eb", "a\u2039U+202E\u203ab"),
        ("a\u200bb\ufeff", "ab"),
        ("a\tb", "a    b"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("👩\u200d💻 1\ufe0f\u20e3 نمی\u200cشود", "👩\u200d💻 1\ufe0f\u20e3 نمی\u200cشود"),
        ("\ud83d x", " x"),
    ],
)
def test_prose_is_cleaned(text, expected):
    assert clean(text) == expected


@for_each(
    ("text", "expected"),
    [
        ("\x1b[1;31mred\x1b[0m\x1b[K", "\x1b[1;31mred\x1b[0m"),
        ("\x9b32mgreen", "\x1b[32mgreen"),
        ("10%\r50%\r100%\r\ndone\r\n", "100%\ndone\n"),
        ("50%\r", "50%"),
        ("\x1b[?25l\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
    ],
)
def test_output_keeps_colours_and_the_last_version_of_a_line(text, expected):
    assert clean_output(text) == expected


def test_a_label_is_one_line():
    assert clean_line("a\n b\x1b[31m\t c") == "a b c"


@for_each(
    ("start", "more", "end"), [("\x1b]0;", "x", "\x07"), ("\x1b[", "1;", "m"), ("\x1b[1", " ", "m"), ("\x1b", "(", "B")]
)
@for_each("output", [False, True])
def test_an_endless_sequence_is_not_kept_in_memory(start, more, end, output):
    stream = CleanStream(output=output)

    assert "".join(stream.feed(start if number == 0 else more * 100) for number in range(1000)) == ""
    assert len(stream._raw) < 80
    assert stream.feed(f"{end}after") == "after"
