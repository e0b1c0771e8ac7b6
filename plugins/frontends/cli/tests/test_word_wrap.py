"""Where lines of an answer are broken."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pi_cli.wrap import WordWrap, folded
from pi_terminal_kit.words import width_of
from pi_testing import for_each

texts = st.lists(st.sampled_from([*"ab-*>1. \n\t`|日é", "word ", "```\n"]), max_size=60).map("".join)


def wrapped(text, width=20):
    wrap = WordWrap(lambda: width)
    return wrap.feed(text) + wrap.end()


@given(texts, st.lists(st.integers(0, 200)), st.integers(4, 40))
def test_text_is_broken_alike_in_whatever_pieces_it_comes(text, cuts, width):
    wrap = WordWrap(lambda: width)
    ends = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})

    pieces = [wrap.feed(text[start:end]) for start, end in pairwise(ends)]

    assert "".join(pieces) + wrap.end() == wrapped(text, width)


@given(texts, st.integers(4, 40))
def test_nothing_of_the_text_is_lost_and_only_the_sign_of_a_quotation_is_repeated(text, width):
    assert "".join(wrapped(text, width).split()).replace(">", "") == "".join(text.split()).replace(">", "")


@given(st.lists(st.sampled_from(["a", "bc", "word", "日", "日本"]), max_size=60).map(" ".join), st.integers(12, 40))
def test_rows_of_ordinary_words_fit(text, width):
    assert all(width_of(row.rstrip()) <= width for row in wrapped(text, width).split("\n"))


def test_the_beginning_of_a_word_is_printed_before_its_end_arrives():
    wrap = WordWrap(lambda: 80)

    assert [wrap.feed(each) for each in ("wai", "ting")] == ["wai", "ting"]


def test_near_the_right_edge_a_word_is_held_until_it_is_whole():
    wrap = WordWrap(lambda: 30)

    assert [wrap.feed(each) for each in ("one two three four five", " si", "xty", " ")] == [
        "one two three four five",
        "",
        "",
        " sixty",
    ]


@given(st.text(alphabet="abc defg日\n ", max_size=200), st.integers(2, 40))
def test_folded_rows_always_fit(text, width):
    assert all(width_of(row.rstrip()) <= width for row in folded(text, width).split("\n"))


@given(texts)
def test_without_a_width_nothing_is_broken(text):
    assert wrapped(text, None) == text


@for_each(
    ("text", "expected"),
    [
        ("one two three four five six", "one two three four\nfive six"),
        ("- one two three four five six", "- one two three four\n  five six"),
        ("10. one two three four five", "10. one two three\n    four five"),
        ("> one two three four five", "> one two three four\n> five"),
        ("    one two three four", "    one two three\n    four"),
        ("日本語の文章は単語の間に隙間がない", "日本語の文章は単語の\n間に隙間がない"),
        ("see https://example.org/a/long/path now", "see https://example.org/a/long/path now"),
        (
            "~~~\nrm -rf one two three four\n~~~\none two three six five",
            "~~~\nrm -rf one two three four\n~~~\none two three six\nfive",
        ),
        ("| one | two | three | four | five |", "| one | two | three | four | five |"),
    ],
)
def test_lines_are_broken_between_words_and_code_is_not(text, expected):
    assert wrapped(text) == expected
