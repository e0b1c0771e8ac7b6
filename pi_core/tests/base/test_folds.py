"""A kept value is the one that is made afresh, from whatever sequences it goes on, and few items are read for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_core.base.folds import Fold


class Item:
    """An item that is equal to any other, so that only identity tells them apart."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return True

    __hash__ = None


def numbers(most=12, **options):
    read = []

    def step(value, item):
        read.append(item.number)
        return (*value, item.number)

    return Fold(tuple, step, most=most, **options), read


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 9)),
        st.tuples(st.just("cut"), st.integers(0, 40)),
        st.tuples(st.just("replace"), st.integers(0, 40)),
        st.tuples(st.just("back"), st.integers(0, 5)),
    ),
    max_size=30,
)


@given(STEPS, st.integers(1, 6))
def test_any_sequences_one_after_another_have_the_value_that_is_made_afresh(steps, most):
    fold, _ = numbers(most)
    items, before, made = [], [[]], 0
    for what, number in steps:
        if what == "append":
            items = items + [Item(made + each) for each in range(number)]
            made += number
        elif what == "cut":
            items = items[:number]
        elif what == "replace" and items:
            items = [*items]
            items[number % len(items)] = Item(made)
            made += 1
        elif what == "back":
            items = before[number % len(before)]
        before.append(items)

        assert fold.of(items) == tuple(each.number for each in items)
        assert fold.of(tuple(items)) == tuple(each.number for each in items)


def test_a_longer_sequence_costs_what_is_new():
    fold, read = numbers()
    items = [Item(number) for number in range(1000)]
    for length in range(0, 1001, 10):
        fold.of(items[:length])

    assert len(read) == 1000


def test_a_step_back_costs_about_as_much_as_it_goes_back():
    fold, read = numbers()
    items = [Item(number) for number in range(1000)]
    for length in range(0, 1001, 4):
        fold.of(items[:length])
    for back in (4, 40, 400):
        read.clear()
        other = [*items[: 1000 - back], Item(-1)]

        assert fold.of(other)[-1] == -1
        assert len(read) <= 2 * back + 1


def test_what_is_kept_is_bounded_and_begins_with_what_no_longer_is_there():
    fold, _ = numbers(most=5)
    for name in range(20):
        fold.of([Item(name)])
    items = [Item(number) for number in range(100)]
    for length in range(1, 100):
        fold.of(items[:length])

    assert len(fold._kept) == 5
    assert all(value == tuple(range(length)) for length, _, value in fold._kept)


def test_a_value_that_steps_change_in_place_is_copied_first():
    def step(value, item):
        value.append(item.number)
        return value

    fold = Fold(list, step, copy=list)
    first, second, third = map(Item, (1, 2, 3))

    made = fold.of([first])
    assert (fold.of([first, second]), fold.of([first, third]), made) == ([1, 2], [1, 3], [1])
