"""Text of strangers at a terminal: nothing in it is obeyed, reordered or invisible, and what was there can be seen."""

from __future__ import annotations

import itertools
import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_core.base import terminal_text
from pi_core.base.terminal_text import clean_text, hidden_characters, one_line
from pi_testing import for_each

FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # letters and marks by category, and yet not seen
JOINERS = "\u200c\u200d"
SELECTORS = {*map(chr, (0x180B, 0x180C, 0x180D, 0x180F, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))}
PREPENDED = {*map(chr, (*range(0x600, 0x606), 0x6DD, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD))}  # Cf, but visible

strange = st.text(
    st.sampled_from(
        ["a", " ", "\n", "\t", "\r", "\x1b", "\x9b", "\u202e", "\ufe0f", "\u20e3", "0", "語", "❤", "م", *JOINERS]
    )
)
texts = st.text() | strange | st.text(st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp"]))


def is_hidden(character: str) -> bool:
    category = unicodedata.category(character)
    return (category in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in PREPENDED) or character in FILLERS


@given(texts)
@example("".join(map(chr, range(0x110000))))
def test_nothing_hidden_is_left_but_line_breaks_tabs_and_joiners(text):
    assert {each for each in clean_text(text) if is_hidden(each)} <= {"\n", "\t", *JOINERS}


@given(texts)
@example("".join(map(chr, range(0x110000))))
def test_a_line_is_one_line(text):
    line = one_line(text)

    assert not {each for each in line if is_hidden(each)} - {*JOINERS}
    assert line == " ".join(line.split())


@given(texts)
@example("\u200c\ufe0f")
@example("0\ufe0f\u200c")
def test_what_is_clean_stays_as_it_is(text):
    assert clean_text(clean_text(text)) == clean_text(text)
    assert one_line(one_line(text)) == one_line(text)


@given(texts)
def test_no_two_selectors_or_joiners_are_adjacent(text):
    cleaned = f" {clean_text(f'({text})')}"

    assert not [one + other for one, other in itertools.pairwise(cleaned) if {one, other} <= SELECTORS]
    assert not [one + other for one, other in itertools.pairwise(cleaned) if {one, other} <= {*JOINERS}]


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters=FILLERS)))
def test_visible_text_is_not_touched(text):
    assert clean_text(text) == text


@for_each(
    ("text", "output"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b2J", r"\x9b2J"),
        ("rm \u202egpj.exe", r"rm \u202egpj.exe"),
        ("a\u2066b\u2069\u200e\u061c", r"a\u2066b\u2069\u200e\u061c"),
        ("ok\U000e0041\U000e007f", r"ok\U000e0041\U000e007f"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("p\u200day", r"p\u200day"),
        ("pay\u200c.example", r"pay\u200c.example"),
        ("a\ufe0fb", r"a\ufe0fb"),
        ("❤\ufe0f\ufe01\U000e0101", "❤\ufe0f" + r"\ufe01\U000e0101"),
        ("lone \udc80", r"lone \udc80"),
        ("a\r\nb\r", "a\nb"),
        ("harmless\rrm -rf", r"harmless\rrm -rf"),
        ("a\tb\nc", "a\tb\nc"),
    ],
)
def test_what_is_hidden_is_written_as_python_writes_it(text, output):
    assert clean_text(text) == output


@for_each(
    "text",
    ["👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "1\ufe0f\u20e3", "©\ufe0f", "می\u200cروم", "क्\u200dष", "葛\U000e0100"],
)
def test_scripts_and_emoji_are_shown_as_their_writers_mean_them(text):
    assert clean_text(text) == one_line(text) == text


def test_an_emoji_that_comes_in_pieces_stays_whole():
    assert "".join(map(clean_text, "👨\u200d👩")) == "👨\u200d👩"


@pytest.mark.slow
def test_a_character_is_judged_alone_as_it_is_judged_among_others():
    everything = "".join(f"a{character}" for character in map(chr, range(0x110000)) if character != "\r")

    hidden = {character for _, character in hidden_characters(everything)}

    assert [each for each in hidden if not [*hidden_characters(f"a{each}b")]] == []


def test_visible_text_waits_for_no_pattern_to_be_compiled(monkeypatch):
    monkeypatch.setattr(terminal_text, "re", None)

    assert clean_text("→ read Größe.txt\n\t語") == "→ read Größe.txt\n\t語"


def test_whitespace_in_a_line_is_one_space():
    assert one_line(" a \t\n b\x85c\u2028d ") == "a b c d"


@given(texts)
@example("\u200c\r")
@example("\u200c\r\n")
def test_the_hidden_characters_are_those_that_get_an_escape(text):
    found = list(hidden_characters(text))

    assert all(text[index] == character for index, character in found)
    assert len(clean_text(text)) - len(re.sub(r"\r+(?=\n|\Z)", "", text)) == sum(
        len(character.encode("unicode_escape")) - 1 for _, character in found
    )
