"""JSON of servers is read where that is safe, counted where it makes sense, and shown in part."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import compact_json, dicts, parse_json, shown_bytes, token_count
from pi_testing import for_each

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(PLAIN)
def test_what_was_written_is_read(value):
    assert parse_json(compact_json(value).encode()) == value


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30], ids=repr)
def test_a_number_beyond_64_bits_is_read_as_in_javascript(number):
    read = parse_json(compact_json(number).encode())

    assert (read, type(read)) == (float(number), float)


def test_halves_of_characters_pass_both_ways():
    half = {"text": "\ud83d"}

    assert parse_json(b'{"text": "\\ud83d"}') == half
    assert compact_json(half) == '{"text":"\\ud83d"}'


@for_each("data", [b"", b"{", b"{} {}", b"\xff", b"[" * 200_000])
def test_what_is_no_json_is_a_value_error(data):
    with pytest.raises(ValueError, match=r"."):
        parse_json(data)


@for_each(
    ("values", "count"),
    [
        ((7,), 7),
        ((7.9,), 7),
        ((0, 7), 0),
        ((None, "7", True, 7), 7),
        ((-7,), 0),
        ((float("nan"), float("inf"), 10**400, 7), 7),
        ((), 0),
    ],
)
def test_the_first_number_of_tokens_counts(values, count):
    assert token_count(*values) == count


@pytest.mark.parametrize("value", [None, {}, "text", 5])
def test_what_is_no_list_has_no_objects(value):
    assert dicts(value) == []


def test_only_the_objects_of_a_list_are_returned():
    assert dicts([{"a": 1}, None, "b", [], {}]) == [{"a": 1}, {}]


def test_what_is_printed_is_short_and_in_quotes():
    assert shown_bytes(b"\x1b[2J") == "'\\x1b[2J'"
    assert len(shown_bytes(json.dumps("x" * 1000).encode())) < 150
