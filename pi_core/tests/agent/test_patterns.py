"""Regular expressions of strangers: decided like Python's, and never for longer than a moment."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core import pattern_matches
from pi_core.agent.schema import CompiledSchema

CATASTROPHIC = ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", r"^(\w+\s?)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"]
PIECES = st.sampled_from(
    ["a", "b", "ab", ".", "^", "$", "a*", "b+", "(a|b)", "[ab]", "[^a]", r"\d", "(?:ab)?", "a{1,2}"]
)


@given(st.lists(PIECES, max_size=5).map("".join), st.text("ab1 ", max_size=8))
def test_a_pattern_means_what_python_reads(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text) is not None
    except re.error:
        return

    assert pattern_matches(pattern, text) is expected


@pytest.mark.parametrize("pattern", CATASTROPHIC)
@pytest.mark.parametrize("text", ["a" * 40 + "!", "a" * 5_000 + "!", "a " * 40 + "!"], ids=len)
def test_a_pattern_that_takes_for_ever_is_given_up(pattern: str, text: str) -> None:
    assert pattern_matches(pattern, text) in (None, False, True)


@pytest.mark.parametrize(
    "pattern", ["(", "[", r"(?<name>a)\k<name", "*", "a{99999999999999}", "x" * 10_000, r"\p{Nope}"]
)
def test_a_pattern_that_cannot_be_read_decides_nothing(pattern: str) -> None:
    assert pattern_matches(pattern, "a") is None


@pytest.mark.parametrize("pattern", CATASTROPHIC)
def test_a_schema_with_such_a_pattern_answers(pattern: str) -> None:
    text = {"type": "string", "pattern": pattern}
    schema = CompiledSchema("t", {"type": "object", "properties": {"v": text}, "patternProperties": {pattern: text}})

    fitted, _ = schema.fit({"v": "a" * 40 + "!", "a" * 40 + "!": "b"})

    assert set(fitted) == {"v", "a" * 40 + "!"}


def test_properties_by_pattern_are_checked_and_coerced() -> None:
    schema = CompiledSchema("t", {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}})

    assert schema.fit({"n_a": "5", "x": "5"}) == ({"n_a": 5, "x": "5"}, [])
    assert schema.fit({"n_a": "x"})[1] == ["n_a: must be integer"]
