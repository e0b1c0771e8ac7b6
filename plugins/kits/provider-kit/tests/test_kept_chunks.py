"""The JSON that is kept of a long conversation is in few chunks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import kept
from pi_provider_kit.kept import _APART, _Conversation


@given(st.lists(st.integers(0, 60), max_size=60), st.integers(0, 40))
def test_chunks_joined_are_the_items(sizes, change):
    conversation, items = _Conversation("key"), []
    for number, size in enumerate(sizes):
        items = [*items, {"role": "user", "content": "x" * size}, {"role": "assistant", "content": str(number)}]
        if number % 7 == 3:
            items[change % len(items)] = {"role": "user", "content": "changed"}
        if number % 5 == 2:
            items = items[: change % len(items)]
        conversation._freeze(items)

        assert [*conversation.sizes] == [len(kept._elements([item])) for item in items]
        assert b",".join(chunk for _, chunk in conversation.chunks) == kept._elements(items)
        ends = [0, *(end for end, _ in conversation.chunks)]
        assert [kept._elements(items[start:end]) for start, end in pairwise(ends)] == [
            chunk for _, chunk in conversation.chunks
        ]


def test_there_are_few_of_them():
    conversation, items = _Conversation("key"), []
    for number in range(2000):
        items = [*items, {"role": "user", "content": f"question {number}"}]
        conversation._freeze(items)

    assert len(conversation.chunks) < _APART + 20
