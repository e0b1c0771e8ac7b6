"""Changes in place are seen, whatever ``==`` says, and nothing else is."""

from __future__ import annotations

from collections import OrderedDict
from copy import deepcopy
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs.unchanged import START, Contents, first_difference

LEAVES = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([0.0, 1.0, "", "a"])
DATA = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner), max_leaves=8
)


def holders_in(value):
    """Return all dicts and lists of plain data."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, dict | list) else []
    return found + [each for item in inner for each in holders_in(item)]


def strict(value):
    """Return data in a form that is equal only for the same JSON."""
    if isinstance(value, dict):
        return [(name, strict(item)) for name, item in value.items()]
    return [strict(item) for item in value] if isinstance(value, list) else (type(value), value)


def change(holder, number, item):
    """Change a dict or list in place."""
    if isinstance(holder, list):
        holder[number % (len(holder) + 1) : number % (len(holder) + 1) + number % 2] = [item]
    elif number % 3:
        holder["abc"[number % 3]] = item
    else:
        for name in [*holder][:1]:
            holder[name] = holder.pop(name)  # only the order


@given(st.lists(DATA, min_size=1, max_size=4), st.integers(0, 20), st.integers(0, 5), LEAVES)
def test_each_change_in_place_is_seen(values, place, number, item):
    contents = Contents()
    places = [START]
    for value in values:
        assert contents.add(value)
        places.append(contents.place)
    before = deepcopy(values)

    assert contents.same()

    holders = [each for value in values for each in holders_in(value)]
    if holders:
        change(holders[place % len(holders)], number, item)

    for pair, old, new in zip(pairwise(places), before, values, strict=True):
        assert strict(old) == strict(new) or not contents.same(*pair)


@given(st.lists(DATA, min_size=2, max_size=4))
def test_what_is_cut_is_forgotten(values):
    contents = Contents()
    contents.add(values[0])
    place = contents.place
    for value in values[1:]:
        contents.add(value)
    contents.cut(place)
    for value in values[1:]:
        for holder in holders_in(value):
            holder.clear()

    assert contents.place == place
    assert contents.same()


def test_an_item_that_moves_to_the_next_dict_is_seen():
    first, second = {"a": 1}, {"b": 2}
    contents = Contents()
    contents.add([first, second])
    first["b"] = second.pop("b")

    assert not contents.same()


@pytest.mark.parametrize("odd", [object(), OrderedDict(a=1), {"a": {1, 2}}, [(1, [{2}])]])
def test_objects_of_other_classes_are_not_watched(odd):
    assert not Contents().add(odd)


def test_a_list_that_contains_itself_is_watched():
    inner: list[object] = [1]
    inner.append(inner)
    contents = Contents()

    assert contents.add(inner)
    assert contents.same()

    inner.append(2)

    assert not contents.same()


def test_the_first_difference_is_one_of_identity():
    one, other = [1], [1]

    assert first_difference([one, one], [one, other]) == 1
    assert first_difference([one], [one, other]) == 1
    assert first_difference([], [one]) == 0


def test_another_order_of_names_is_seen():
    named = {"a": 1, "b": 1}
    contents = Contents()
    contents.add(named)
    named["a"] = named.pop("a")

    assert not contents.same()
