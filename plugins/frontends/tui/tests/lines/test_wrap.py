"""No row is wider than asked, and nothing but spaces is lost at its end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_hookspecs import Run
from pi_testing import for_each
from pi_tui.lines.line import cells, cut, cut_text
from pi_tui.lines.wrap import chop, wrap, wrap_items, wrap_text
from pi_tui.view.clean import clean

SAMPLE = (
    "The quick brown fox 跳过了懒狗 and 👩\u200d💻👨\u200d👩\u200d👧 work; naïve cafe\u0301 🇩🇪🇫🇷 שלום עולם مرحبا"
    " averyveryverylongwordwithoutanyspaceinit/and/a/path.py   three spaces 1\ufe0f\u20e3 한국어"
)

pieces = st.sampled_from(
    ["a", "word", " ", "  ", "語", "漢字", "é", "e\u0301", "👩\u200d💻", "🇩🇪", "ش", "-", "x" * 20, "\ufe0f"]
)
texts = st.lists(pieces, max_size=30).map("".join).map(clean)


def split_into_runs(text: str) -> list[Run]:
    third = len(text) // 3
    return [Run(text[:third], "accent"), Run(text[third : 2 * third], bold=True), Run(text[2 * third :])]


@for_each("width", range(1, 301))
def test_rows_fit_every_width(width):
    runs = split_into_runs(SAMPLE)

    for rows in (wrap(runs, width), chop(runs, width), wrap(runs, width, first=[Run("- ")], rest=[Run("  ")])):
        assert max(cell_len(str(row)) for row in rows) <= width


@given(texts, st.integers(1, 30))
def test_rows_of_any_text_fit(text, width):
    for rows in (wrap([Run(text)], width), chop([Run(text)], width), chop([Run(text)], width, first=[Run("  ")])):
        assert rows
        assert all(cell_len(str(row)) <= width for row in rows)


@given(texts, st.integers(2, 30))
def test_only_spaces_are_lost(text, width):
    rows = wrap([Run(text)], width)

    assert "".join(map(str, rows)).replace(" ", "") == text.replace(" ", "")
    assert "".join(map(str, chop([Run(text)], width))) == text


@given(texts, st.integers(2, 30))
def test_runs_keep_their_style(text, width):
    runs = split_into_runs(text)

    rows = chop(runs, width)

    kept = [(character, run.role, run.bold) for row in rows for run in row for character in run.text]
    assert kept == [(character, run.role, run.bold) for run in runs for character in run.text]


@for_each(
    ("text", "width", "expected"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("onetwothree", 4, ["onet", "woth", "ree"]),
        ("    code that is long", 10, ["    code", "that is", "long"]),
        ("", 5, [""]),
        ("a    b", 3, ["a", "b"]),
        ("漢字仮名", 5, ["漢字", "仮名"]),
        ("word 漢字", 6, ["word", "漢字"]),
        ("漢", 1, ["\ufffd"]),
    ],
)
def test_rows_break_where_a_reader_expects(text, width, expected):
    assert [str(row) for row in wrap([Run(text)], width)] == expected


def test_a_prefix_that_leaves_no_room_is_left_out():
    assert [str(row) for row in wrap([Run("ab")], 2, first=[Run("- ")])] == ["ab"]


def test_lines_of_a_text_stay_apart():
    assert [str(row) for row in wrap_text("one\n\ntwo three", 5)] == ["one", "", "two", "three"]


@given(texts, st.integers(0, 30))
def test_a_cut_text_fits(text, width):
    assert cells(cut_text(text, width)) <= width


def test_a_cut_line_keeps_its_styles():
    (line,) = wrap([Run("abc", "accent"), Run("def", "error")], 10)

    assert cut(line, 5).runs == (Run("abc", "accent"), Run("d", "error"), Run("…", "error"))
    assert cut(line, 6) is line


def test_items_stay_in_one_piece():
    rows = wrap_items(["Enter to select", "Escape to cancel", "A a", "a-word-that-is-too-long"], 20, Run("", "dim"))

    drawn = ["Enter to select ·", "Escape to cancel ·", "A a ·", "a-word-that-is-too-l", "ong"]
    assert [str(row) for row in rows] == drawn


@given(st.lists(texts, max_size=5), st.integers(1, 40))
def test_rows_of_items_fit(items, width):
    assert all(cells(str(row)) <= width for row in wrap_items(items, width, Run("")))
