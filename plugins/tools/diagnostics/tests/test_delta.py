"""Which of a file's errors are new."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_diagnostics.delta import Finding, new_findings


def errors_of(text):
    """An error for each line that begins with ``E``, with a position in its message, as some programs have it."""
    lines = text.split("\n")
    return [
        Finding(at, 1, f"wrong: {each} (line {at})", "E", "x") for at, each in enumerate(lines, 1) if each[:1] == "E"
    ]


def messages(found):
    return [each.message for each in found]


texts = st.lists(st.sampled_from(["", "a", "b", "E1", "E2"]), max_size=12).map("\n".join)


def test_an_error_in_an_added_line_is_new():
    old, new = "a\nE1", "E2\na\nE1"

    assert messages(new_findings(errors_of(old), errors_of(new), old, new)) == ["wrong: E2 (line 1)"]


def test_of_two_equal_errors_the_one_in_the_changed_line_is_new():
    old, new = "E1\na\nb", "E1\na\nE1"

    assert [each.line for each in new_findings(errors_of(old), errors_of(new), old, new)] == [3]


def test_of_two_equal_errors_the_one_that_was_inserted_above_is_new():
    old, new = "a\nb\nE1", "a\nE1\nb\nE1"

    assert [each.line for each in new_findings(errors_of(old), errors_of(new), old, new)] == [2]


@pytest.mark.parametrize("other", [{"source": "y"}, {"code": "F"}, {"message": "different"}])
def test_an_error_of_another_program_rule_or_message_is_new(other):
    before = Finding(1, 1, "wrong", "E", "x")
    after = Finding(1, 1, **{"message": "wrong", "code": "E", "source": "x", **other})

    assert new_findings([before], [after], "a", "a") == [after]


@given(texts, st.lists(st.sampled_from(["", "a", "b"]), max_size=5))
def test_errors_that_only_moved_are_not_new(text, inserted):
    moved = "\n".join([*inserted, text])

    assert new_findings(errors_of(text), errors_of(moved), text, moved) == []


@given(texts, texts)
def test_as_many_are_new_as_have_been_added(old, new):
    found = new_findings(errors_of(old), errors_of(new), old, new)

    added = sum(max(0, new.split("\n").count(each) - old.split("\n").count(each)) for each in ("E1", "E2"))
    assert len(found) == added
    assert found == [each for each in errors_of(new) if each in found]
