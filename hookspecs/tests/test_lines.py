"""Styled lines are small immutable values that front ends can use as keys of their caches."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import Line, Run

runs = st.builds(Run, st.text(), st.sampled_from(["text", "muted"]), bold=st.booleans())
lines = st.builds(Line, st.lists(runs).map(tuple), st.none() | st.just("selectedBg"))


def test_a_run_is_plain_text_unless_it_says_otherwise():
    assert Run("a") == Run("a", role="text", bold=False, link=None, background=None)


def test_a_line_is_made_of_texts_and_runs():
    line = Line.of("3 of ", Run("5", "accent", bold=True), fill="selectedBg")

    assert line == Line((Run("3 of "), Run("5", role="accent", bold=True)), "selectedBg")
    assert [run.role for run in line] == ["text", "accent"]


@given(lines)
def test_the_text_of_a_line_is_that_of_its_runs(line: Line):
    assert str(line) == "".join(run.text for run in line)
    assert len(line) == len(line.runs)


def test_an_empty_line_is_still_a_row():
    assert bool(Line()) is True


@given(lines, lines)
def test_equal_lines_are_one_key(one: Line, other: Line):
    assert (one == other) == (one.runs == other.runs and one.fill == other.fill)
    assert len({one, copy.deepcopy(one)}) == 1


def test_a_line_cannot_be_changed():
    with pytest.raises(AttributeError):
        Line().fill = "selectedBg"  # type: ignore[misc]

    with pytest.raises(AttributeError):
        Run("a").text = "b"  # type: ignore[misc]
