"""Every id becomes one that the API accepts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pi_provider_kit import completions_id, mistral_id, responses_id, sanitized_id
from pi_testing import for_each

ANY = st.text(max_size=120)


@given(ANY)
def test_every_result_is_what_the_api_accepts(call_id):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", sanitized_id(call_id))
    assert len(completions_id(call_id)) <= 40
    assert re.fullmatch(r"[0-9A-Za-z]{9}", mistral_id(call_id))
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}(\|fc[a-zA-Z0-9_-]{0,62})?", responses_id(call_id))


@given(ANY)
def test_an_id_that_fits_stays(call_id):
    for rule in (sanitized_id, completions_id, responses_id, mistral_id):
        assert rule(rule(call_id)) == rule(call_id)


@for_each(
    ("rule", "call_id", "expected"),
    [
        (sanitized_id, "toolu_01:a|b", "toolu_01_a_b"),
        (completions_id, "call_1|fc_2", "call_1"),
        (completions_id, "x" * 40, "x" * 40),
        (responses_id, "call_1|item.2", "call_1|fc_item_2"),
        (responses_id, "call_1|fc_2", "call_1|fc_2"),
        (responses_id, "toolu:1", "toolu_1"),
        (mistral_id, "abcDEF123", "abcDEF123"),
    ],
)
def test_known_ids(rule, call_id, expected):
    assert rule(call_id) == expected


def test_two_long_ids_with_one_beginning_stay_two():
    first, second = completions_id("x" * 50 + "a"), completions_id("x" * 50 + "b")

    assert first != second
    assert re.fullmatch(r"x{31}_[0-9a-f]{8}", first)


def test_only_openai_minds_long_ids():
    assert completions_id("x" * 50, "groq") == "x" * 50
