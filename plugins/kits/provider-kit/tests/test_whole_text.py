"""Text that UTF-8 cannot hold is mended on its way in and out."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import WholeText, clean_json, clean_text

HALVES = st.sampled_from(["\ud83d", "\ude00", "a", "\u00e4", "\N{GRINNING FACE}", "\ud83d\ude00"])


@given(st.text(), st.data())
def test_a_text_cut_within_characters_comes_whole(text, data):
    units = text.encode("utf-16-le", "surrogatepass")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(units) // 2), max_size=6)))
    edges = [0, *(2 * cut for cut in cuts), len(units)]
    pieces = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(edges)]
    mended = WholeText()
    displayed = [mended.add(piece) for piece in pieces]

    assert "".join(displayed) == clean_text(text)
    assert all(clean_text(each) is each for each in displayed)


@given(st.lists(HALVES))
def test_any_output_can_be_printed_in_pieces_with_the_same_result(pieces):
    mended = WholeText()
    displayed = [mended.add(piece) for piece in pieces]

    assert "".join(displayed) == clean_text("".join(pieces))
    for each in displayed:
        each.encode()


def test_halves_are_left_out_everywhere():
    value = {"a\ud83d": ["\ude00b", {"c": "\ud83d\ude00"}], "d": 1}

    assert clean_json(value) == {"a": ["b", {"c": "\N{GRINNING FACE}"}], "d": 1}


def test_what_is_clean_is_the_same_object():
    value = {"a": ["\N{GRINNING FACE}", {"b": (1, None)}]}

    assert clean_json(value) is value


def test_what_no_encoder_follows_ends_in_null():
    value = leaf = []
    for _ in range(5000):
        leaf.append([])
        leaf = leaf[0]

    assert json.dumps(clean_json(value)).count("[") == 100
