"""What holds for every list, whatever is in it and whatever is typed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_testing import for_each
from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.selectors.choices import Choices
from pi_tui.selectors.field import Field
from pi_tui.selectors.picks import Option, Pick
from pi_tui.selectors.query import Query
from pi_tui.selectors.selector import Chosen

BINDINGS = Bindings("linux")

KEYS = st.sampled_from(
    ["up", "down", "pageup", "pagedown", "backspace", "left", "right", "home", "ctrl+w", "ctrl+u", *'ab 漢é"r:']
).map(lambda name: Key(name, name if len(name) == 1 else ""))

TEXTS = st.text(alphabet="ab 漢é\u202e\x1b\n😀\t", max_size=12)


@given(st.lists(TEXTS, max_size=30), st.lists(KEYS, max_size=20), st.integers(1, 60), st.integers(1, 30))
def test_rows_fit_and_enter_takes_what_is_marked(names, keys, width, height):
    pick = Pick("t漢", [Option(str(number), name, "note") for number, name in enumerate(names)], message="m" * 70)

    for key in keys:
        pick.press(key, BINDINGS)
        rows = pick.lines(width, height, BINDINGS)

        assert all(cell_len(str(row)) <= width for row in rows)
        assert len(rows) <= max(height, 5)
        assert 0 <= pick.choices.index < max(len(pick.choices.found), 1)
        marked = [row for row in rows if row.runs and row.runs[0].text.startswith("→")]
        assert len(marked) == (width > 1 and bool(pick.choices.found))
    taken = pick.press(Key("enter"), BINDINGS)

    assert taken == (Chosen(pick.choices.selected) if pick.choices.found else None)


@given(st.lists(st.integers(), unique=True, max_size=30), st.lists(st.integers(), unique=True, max_size=30), st.data())
def test_the_selected_item_stays_selected_in_another_list(before, after, data):
    choices = Choices(before, str)
    choices.jump(data.draw(st.integers(0, 30)))
    selected = choices.selected

    choices.replace(after)

    assert 0 <= choices.index < max(len(after), 1)
    if selected in after:
        assert choices.selected == selected


@given(st.lists(st.integers(), max_size=30), st.integers(0, 40), st.integers(1, 40))
def test_the_cursor_is_in_view(items, index, room):
    choices = Choices(items, str)
    choices.jump(index)

    visible = choices.visible(room)

    assert len(visible) == min(room, len(items))
    assert [item for item, selected in visible if selected] == items[choices.index : choices.index + 1]


@for_each(
    ("typed", "text", "matches"),
    [
        ("", "anything", True),
        ("mend tide", "The tide, mended", True),
        ("tdmd", "tide mended", True),
        ('"tide mended"', "the  tide\nmended", True),
        ('"mended tide"', "tide mended", False),
        ('"tide', "tide", True),
        ('"tide" md', "tide mended", True),
        ('""', "anything", True),
        (r"re:t.de\b", "TIDE", True),
        (r"re:^tide$", "tides", False),
        ("re:", "anything", True),
        ("re:(", "(", False),
        ("[.^-]", "a[.^-]b", True),
    ],
)
def test_a_search_has_words_phrases_or_a_pattern(typed, text, matches):
    assert (Query(typed).rank(text) is not None) is matches


def test_a_broken_pattern_is_explained(user):
    pick = Pick("t", [Option("1", "one")])

    user.type(pick, "re:(")

    assert "'(' is not a regular expression: missing ), unterminated subpattern" in user.sees(pick)


def test_better_matches_come_first():
    choices = Choices(["a tide", "tide", "t i d e"], str)

    choices.search("tide")

    assert choices.found == ["tide", "a tide", "t i d e"]


@given(st.lists(KEYS, max_size=30), st.integers(4, 20))
def test_the_cursor_of_a_field_is_in_view(keys, width):
    field = Field()

    for key in keys:
        field.press(key, BINDINGS)
        line = field.line(width)

        before = "".join(run.text for run in line.runs[:2])
        assert cell_len(before) < width
        assert line.runs[2].reverse


def test_a_pasted_text_is_one_line():
    field = Field()

    field.paste("a\n\x1b[31mb\tc")

    assert field.text == "a b c"


def test_a_letter_takes_an_option_of_a_list_without_a_search(user):
    asked = Pick("Trust?", [Option("yes", "Trust"), Option("up", "Trust parent folder", key="p")], searched=False)

    assert user.press(asked, "p").value.value == "up"
    assert user.press(asked, "x") is None
    assert "  Trust parent folder (P)" in user.sees(asked)
    assert ">" not in user.sees(asked)


def test_options_are_previewed_as_the_cursor_comes_to_them(user):
    seen = []
    themes = [Option(name, name, is_current=name == "light") for name in ("dark", "light", "system")]
    pick = Pick("Theme", themes, preview=lambda option: seen.append(option.value))

    user.press(pick, "down", "up", "d")

    assert seen == ["system", "light", "dark"]


def test_a_question_keeps_its_title_where_there_is_little_room() -> None:
    options = [Option(name, name) for name in ("trust", "parent", "refuse", "forget")]
    pick = Pick("Trust this folder?", options, message="It has settings and code of its own. " * 4, searched=False)

    rows = [str(row) for row in pick.lines(40, 10, Bindings("linux"))]

    assert "Trust this folder?" in rows[1]
    assert all(any(name in row for row in rows) for name in ("trust", "parent", "refuse", "forget"))
