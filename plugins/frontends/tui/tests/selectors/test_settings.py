"""The list of settings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pi_tui.keys.bindings import Bindings
from pi_tui.keys.events import Key
from pi_tui.selectors.selector import Cancelled
from pi_tui.selectors.settings import SettingChanged, SettingOpened, SettingRow, SettingSelector

ROWS = [
    SettingRow("compaction.enabled", "boolean", True, "Compact the conversation, more or less, automatically"),
    SettingRow(
        "doubleEscapeAction", "choice", "tree", "What Escape pressed twice does", ("fork", "tree", "none"), "~/s.json:3"
    ),
    SettingRow("retry.maxRetries", "number", 3, "Number of attempts after the first one", least=0, is_whole=True),
    SettingRow("retry.jitter", "number", 0.5, "Random share of each wait", least=0),
    SettingRow("shellPath", "text", None, "Path of the shell"),
    SettingRow("theme", "list", "dark", "Name of the theme"),
]


def at(name: str) -> SettingSelector:
    return SettingSelector(ROWS, name)


def test_settings_have_a_value_a_description_and_a_place(user):
    assert user.sees(at("doubleEscapeAction"), 60) == (
        f"""{"─" * 60}
>
  compaction.enabled  on
→ doubleEscapeAction  tree
  retry.maxRetries    3
  retry.jitter        0.5
  shellPath           not set
  theme               dark
  (2/6)
What Escape pressed twice does (fork, tree, none).
Set in ~/s.json:3
Enter or Space to change · Escape to close
{"─" * 60}"""
    )


@pytest.mark.parametrize("key", [Key("enter"), Key("space", " ")])
def test_enter_and_space_change_a_value(user, key):
    assert at("compaction.enabled").press(key, user.bindings) == SettingChanged("compaction.enabled", value=False)
    assert at("doubleEscapeAction").press(key, user.bindings) == SettingChanged("doubleEscapeAction", "none")


def test_the_first_choice_follows_the_last(user):
    selector = SettingSelector([ROWS[1]._replace(value="none")])

    assert user.press(selector, "enter") == SettingChanged("doubleEscapeAction", "fork")


def test_a_value_that_is_none_of_the_choices_becomes_the_first(user):
    selector = SettingSelector([ROWS[1]._replace(value="odd")])

    assert user.press(selector, "enter") == SettingChanged("doubleEscapeAction", "fork")


def test_a_text_is_typed(user):
    selector = at("shellPath")
    user.press(selector, "enter")

    user.type(selector, "/bin/a b")

    assert "shellPath: /bin/a b" in user.sees(selector)
    assert user.press(selector, "enter") == SettingChanged("shellPath", "/bin/a b")


def test_a_number_is_typed(user):
    selector = at("retry.maxRetries")

    assert user.press(selector, "enter", "backspace", "5", "enter") == SettingChanged("retry.maxRetries", 5)


@pytest.mark.parametrize(
    ("name", "typed", "problem"),
    [
        ("retry.maxRetries", "x", "'x' is not a whole number of at least 0."),
        ("retry.maxRetries", "1.5", "'1.5' is not a whole number of at least 0."),
        ("retry.jitter", "-1", "'-1' is not a number of at least 0."),
        ("retry.jitter", "nan", "'nan' is not a number of at least 0."),
    ],
)
def test_what_is_no_number_stays_to_be_mended(user, name, typed, problem):
    selector = at(name)
    user.press(selector, "enter", "ctrl+u")
    user.type(selector, typed)

    assert user.press(selector, "enter") is None
    assert problem in user.sees(selector)
    assert f"{name}: {typed}" in user.sees(selector)


def test_an_empty_value_is_the_default(user):
    assert user.press(at("retry.jitter"), "enter", "ctrl+u", "enter") == SettingChanged("retry.jitter", None)


def test_escape_leaves_a_value_as_it_was(user):
    selector = at("retry.jitter")

    assert user.press(selector, "enter", "9", "escape") is None
    assert user.press(selector, "escape") == Cancelled()


def test_a_list_of_its_own_is_opened(user):
    assert user.press(at("theme"), "enter") == SettingOpened("theme")


def test_names_and_descriptions_are_searched(user):
    selector = SettingSelector(ROWS)

    user.type(selector, "attempts")

    assert [row.name for row in selector.choices.found] == ["retry.maxRetries"]


def test_letters_that_are_apart_in_a_description_do_not_match(user):
    selector = SettingSelector(ROWS)

    user.type(selector, "theme")

    assert [row.name for row in selector.choices.found] == ["theme"]


def test_a_changed_value_is_displayed_where_the_cursor_is(user):
    selector = at("theme")

    selector.take([row._replace(value="light") if row.name == "theme" else row for row in ROWS])

    assert "→ theme               light" in user.sees(selector)


@given(st.integers(1, 90), st.integers(1, 30), st.lists(st.sampled_from(["down", "enter", "space", "x", "escape"])))
def test_rows_of_settings_fit(width, height, names):
    bindings = Bindings("linux")
    selector = SettingSelector(ROWS)

    for name in names:
        selector.press(Key(name, {"space": " ", "x": "x"}.get(name, "")), bindings)

        assert all(cell_len(str(row)) <= width for row in selector.lines(width, height, bindings))
