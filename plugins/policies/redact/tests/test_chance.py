"""What is counted of a text to tell a key from a word is what its definition says, for texts of any characters."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pi_redact import chance

TEXTS = st.one_of(st.text(max_size=700), st.text("abcXYZ0123٣²ß+/_-", max_size=700), st.text("aB3", max_size=70))


@given(TEXTS)
def test_entropy_is_that_of_the_frequencies_of_characters(text):
    counts = Counter(text).values()

    assert chance.entropy(text) == -sum([count / len(text) * math.log2(count / len(text)) for count in counts])


@given(TEXTS)
def test_a_run_is_random_by_how_often_its_kinds_of_characters_change(run):
    kinds = ["digit" if c.isdigit() else "small" if c.islower() else "other" for c in run]
    changes = sum(a != b for a, b in pairwise(kinds))
    digits = sum((a == "digit") != (b == "digit") for a, b in pairwise(kinds))
    is_long = len(run) >= 12 and any(map(str.isalpha, run)) and chance.entropy(run) >= 2.9
    is_varied = (
        ("digit" in kinds and digits >= max(3, len(run) // 8))
        or (len(run) >= 30 and changes >= 0.25 * len(run) and chance.entropy(run) > 4.2)
        or (len(run) >= 16 and changes >= 0.4 * len(run))
    )

    assert chance._is_random_run(run) is (is_long and is_varied)
