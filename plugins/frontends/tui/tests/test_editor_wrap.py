"""Rows of the editor: never wider than the width, never missing a character, and the cursor on them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_testing import for_each
from pi_tui.editor.clusters import clusters_of, next_boundary, previous_boundary
from pi_tui.editor.paste_marks import Pastes
from pi_tui.editor.wrap import Place, index_at, place_of, wrap

PASTES, MARK = Pastes().added("x\n" * 30)

WOMAN = "\U0001f469\u200d\U0001f4bb"

SAMPLE = f"Words, longer and shorter: 漢字かな交じり文 {WOMAN}👍🏽🇩🇪 e\u0301\t{MARK} \u202ehidden\n\nx" + "y" * 400

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(f"ab  \n\t漢😀👍🏽{WOMAN}❤️\u0301\ufe0f🇩🇪\u202e{MARK}"),
        st.characters(codec="utf-8", exclude_categories=["Cc"]),
    ),
    max_size=60,
)


@for_each("width", range(1, 301))
def test_no_row_is_wider_than_the_width(width: int) -> None:
    rows = wrap(SAMPLE, width, PASTES.labels)

    assert max(row.cells for row in rows) <= width
    assert [row.cells for row in rows] == [cell_len(row.shown) for row in rows]


@given(TEXTS, st.integers(1, 40))
@example("漢", 1)
@example("\t", 2)
@example("🇩🇪🇩🇪", 3)
def test_rows_fit_and_hold_every_character(text: str, width: int) -> None:
    rows = wrap(text, width, PASTES.labels)

    assert all(row.cells == cell_len(row.shown) <= width for row in rows)
    assert "\n".join("".join(part) for part in _lines(text, rows)) == text


def _lines(text: str, rows: list) -> list[list[str]]:
    lines: list[list[str]] = []
    for index, row in enumerate(rows):
        if index == 0 or row.start != rows[index - 1].end:
            lines.append([])
        lines[-1].append(text[row.start : row.end])
    return lines


@given(TEXTS, st.integers(1, 40))
def test_every_place_of_the_cursor_is_drawn_and_found_again(text: str, width: int) -> None:
    rows = wrap(text, width, PASTES.labels)
    cursor = 0
    while True:
        place = place_of(text, rows, cursor, width, PASTES.labels)
        assert 0 <= place.cell <= width
        found = index_at(text, rows, place, width, PASTES.labels)
        assert place_of(text, rows, found, width, PASTES.labels) == place or place.cell == rows[place.row].cells
        if cursor == len(text):
            break
        cursor = next_boundary(text, cursor)


@given(TEXTS)
def test_steps_back_are_the_steps_forward(text: str) -> None:
    forward, back = [0], [len(text)]
    while forward[-1] < len(text):
        forward.append(next_boundary(text, forward[-1]))
    while back[-1] > 0:
        back.append(previous_boundary(text, back[-1]))

    assert back[::-1] == forward


def shown(text: str, width: int) -> list[str]:
    return [row.shown for row in wrap(text, width, PASTES.labels)]


def test_a_row_ends_after_a_space() -> None:
    assert shown("one two three", 8) == ["one two ", "three"]


def test_a_space_that_does_not_fit_begins_the_next_row() -> None:
    assert shown("one two three", 7) == ["one two", " three"]
    assert shown("öne two three", 7) == ["öne two", " three"]


def test_a_word_that_is_wider_than_a_row_is_cut() -> None:
    assert shown("see abcdefghij", 5) == ["see ", "abcde", "fghij"]
    assert shown("sée abcdefghij", 5) == ["sée ", "abcde", "fghij"]


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    assert shown("ab 漢字漢字", 6) == ["ab 漢", "字漢字"]


def test_a_flag_and_a_family_are_one_step() -> None:
    assert [cluster.shown for cluster in clusters_of(f"🇩🇪🇫🇷{WOMAN}e\u0301")] == ["🇩🇪", "🇫🇷", WOMAN, "e\u0301"]


def test_characters_that_cannot_be_seen_are_drawn_by_their_code_points() -> None:
    assert shown("a\u202eb\u200bc", 40) == ["a\u2039U+202E\u203ab\u2039U+200B\u203ac"]
    assert shown("a\u200db\U000e0041", 40) == ["a\u2039U+200D\u203ab\u2039U+E0041\u203a"]


def test_a_paste_is_drawn_by_its_size_and_cut_where_it_does_not_fit() -> None:
    assert shown(f"see {MARK}", 40) == ["see [paste #1 +30 lines]"]
    assert shown(f"see {MARK}", 8) == ["see ", "[paste …"]


def test_the_cursor_between_two_rows_is_in_the_second() -> None:
    rows = wrap("one two three", 8)

    assert place_of("one two three", rows, 8, 8) == Place(1, 0)
    assert place_of("one two three", rows, 13, 8) == Place(1, 5)


def test_a_place_right_of_a_row_is_its_last_character_or_the_line_s_end() -> None:
    text = "one two three"
    rows = wrap(text, 8)

    assert index_at(text, rows, Place(0, 20), 8) == 7
    assert index_at(text, rows, Place(1, 20), 8) == 13
