"""The scrollbar's sums are those of all blocks, however the transcript has grown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_tui.lines.heights import estimated_heights, extent_of
from pi_tui.lines.look import Look
from pi_tui.screen.heights import Heights
from pi_tui.view.blocks import User
from pi_tui.view.state import State


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from([40, 100])), min_size=1, max_size=6))
def test_a_sum_that_grew_is_the_sum_of_all(steps: list[tuple[int, int]]) -> None:
    state = State()
    heights = Heights(state)
    for added, width in steps:
        look = Look(width=width)
        for number in range(added):
            state.add(User, text="word\n" * (number % 5))
        rows = [*estimated_heights(map(extent_of, state.blocks), look)]

        assert [heights.before(number, look) for number in range(len(rows) + 1)] == [
            sum(rows[:number]) for number in range(len(rows) + 1)
        ]
        for row in range(sum(rows)):
            number, line = heights.at(row, look)
            assert sum(rows[:number]) + line == row
            assert line < rows[number]
