"""Whatever models and tools say becomes one safe line of the width that there is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_cli import wrap
from pi_cli.activity import call_line
from pi_cli.screen import Screen
from pi_cli.words import shorten
from pi_core.base.terminal_text import clean_text, one_line
from pi_terminal_kit.words import width_of
from pi_testing import for_each

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.text(), st.integers(1, 100))
def test_shortened_line_fits(text, width):
    line = one_line(text)

    assert width_of(shorten(line, width)) <= width
    assert shorten(line, 10_000) == line


@pytest.mark.slow
@given(st.text(min_size=1, max_size=20), st.dictionaries(st.text(), json_values), st.integers(20, 200))
def test_any_call_is_one_clean_line(tool, arguments, width):
    call = call_line(tool, arguments, width)

    assert clean_text(call) == call
    assert "\n" not in call
    assert width_of(call) <= width


@for_each(
    ("arguments", "expected"),
    [
        ({}, "act"),
        ({"command": "ls -la"}, "act ls -la"),
        ({"limit": 5, "path": "a b.txt"}, "act a b.txt limit=5"),
        ({"what": [1, {"a": "é"}]}, 'act [1, {"a": "é"}]'),
        ({"path": "x", "content": "y" * 100}, "act x content=" + "y" * 39 + "…"),
        ({"one": 1, "two": None}, "act one=1 two=null"),
    ],
)
def test_most_telling_argument_comes_first(arguments, expected):
    assert call_line("act", arguments, 100) == expected


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("edit", {"path": "a.py", "edits": [{"oldText": "a", "newText": "b"}]}, "edit a.py"),
        ("write", {"path": "a.py", "content": "text"}, "write a.py"),
    ],
)
def test_a_change_is_named_by_its_file(tool, arguments, expected):
    assert call_line(tool, arguments, 100) == expected


def test_wide_characters_count_twice():
    assert width_of("日本e\u0301") == 5
    assert shorten("日本語", 4) == "日…"


class Tty(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@given(st.lists(st.text(alphabet=st.sampled_from(["a", " ", "\n"])), min_size=1))
def test_paragraph_shows_its_text_without_empty_lines_around_it(pieces):
    out = Tty()
    screen = Screen(out, io.StringIO())

    for piece in pieces:
        screen.text(piece)
    screen.end_text()

    text = "".join(pieces).strip("\n")
    assert out.getvalue() == (f"{text}\n" if text else "")


@given(st.text())
def test_whatever_the_screen_is_given_it_writes_clean(text):
    out, err = Tty(), Tty()
    screen = Screen(out, err)

    screen.text(text)
    screen.line(text)

    assert clean_text(out.getvalue()) == out.getvalue()
    assert clean_text(err.getvalue()) == err.getvalue()


@pytest.mark.parametrize("line", ["→ read  notes.md", "1. one\n   two\t", " "])
def test_a_line_that_is_not_wrapped_waits_for_no_pattern_to_be_compiled(line, monkeypatch):
    monkeypatch.setattr(wrap, "re", None)
    err = Tty()

    Screen(io.StringIO(), err).line(line)

    assert err.getvalue() == f"{line}\n"
