"""Widgets of plugins in a conversation: rows above the line, or printed where there are none."""

from __future__ import annotations

import io

import pytest

from pi_cli.line.dialogs import LineUI
from pi_cli.line.plain import Around, PlainLine
from pi_hookspecs import Line, Run


class Held(PlainLine):
    """A line with rows above it, which are drawn anew."""

    held = True
    drawn = 0

    def draw(self):
        self.drawn += 1


@pytest.fixture
def plain():
    return LineUI(PlainLine(None, Around(io.StringIO())))


@pytest.fixture
def held():
    return LineUI(Held(None, Around(io.StringIO())))


def test_a_widget_is_printed_once_when_it_changes(plain, capsys):
    for rows in (["1 of 3"], ["1 of 3"], [Line.of("2 of ", Run("3", "accent"))], None):
        plain.set_widget("todo", rows)

    assert capsys.readouterr().err == "1 of 3\n2 of 3\n"


def test_rows_above_the_line_are_drawn_anew_when_they_change(held, capsys):
    for rows in (["1 of 3"], ["1 of 3"], ["2 of 3"], None, None):
        held.set_widget("todo", rows)

    assert held._line.drawn == 3
    assert held.widgets == {}
    assert capsys.readouterr().err == ""


def test_a_long_widget_is_cut_so_that_the_line_stays_in_view(held):
    held.set_widget("todo", [f"row {number}" for number in range(40)])

    assert len(held.widgets["todo"]) == 5


def test_rows_keep_their_indentation_and_lose_their_colours(held):
    held.set_widget("todo", ["  \x1b[31m[ ]\x1b[0m sleep\n", "\x1b]0;title\x07"])

    assert held.widgets["todo"] == ["  [ ] sleep", "\\x1b]0;title\\x07"]
