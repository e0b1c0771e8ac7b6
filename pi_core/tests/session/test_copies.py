"""Copies of plain data share nothing that can be changed in place, whatever the data are made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_core.session.copies import copy_data

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
DATA = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner))


def containers(value):
    """Return the identities of all dicts and lists in a value."""
    if isinstance(value, dict):
        return {id(value)}.union(*map(containers, value.values()))
    return {id(value)}.union(*map(containers, value)) if isinstance(value, list) else set()


@given(DATA)
def test_a_copy_is_equal_and_shares_no_container(value):
    copied = copy_data(value)

    assert copied == value
    assert type(copied) is type(value)
    assert containers(copied).isdisjoint(containers(value))
