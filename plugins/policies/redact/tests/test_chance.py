"""What is counted of a text to tell a key from a word is what its definition says, for texts of any characters."""

from __future__ import annotations

import hmac
import math
import re
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pi_redact import assignments, chance
from pi_redact.redactor import Redactor

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


PARTS = "password Token my-KEY your Your YOUR p@ssw0rd hunter2 test _ - 1234 ... *** ${ {{ <a xxxx EXAMPLE example 9f"
WORDS = st.sampled_from([*PARTS.split(), "…", "•", "\n", "K\u212a", "\u017f", "\u0130", "\u0131", "Äñ"])
VALUES = st.lists(st.one_of(WORDS, TEXTS.map(lambda text: text[:9])), max_size=6).map("".join)


@given(VALUES)
def test_a_placeholder_is_made_of_words_in_any_case_or_refers_to_a_value(value):
    words = re.compile(chance._PLACEHOLDER.pattern, re.IGNORECASE)

    assert chance.is_placeholder(value) is bool(words.match(value) or chance._REFERENCE.match(value))


@given(st.one_of(TEXTS, VALUES))
def test_a_mixed_key_has_a_digit_and_letters_of_both_cases(key):
    assert chance.is_mixed(key) is all(any(map(kind, key)) for kind in (str.isdigit, str.islower, str.isupper))


AROUND = st.text("AZ_09 a\n\\n;\"'`é\u2003=", max_size=80)


@given(AROUND, st.text("AZ_09", max_size=70), st.integers(0, 20))
def test_a_variable_in_capitals_begins_a_line_or_a_word(before, name, begin):
    text = before + name
    line = re.compile(r"(?:^|\\n|[\s;\"'`])[A-Z][A-Z0-9_]{0,60}\Z")
    begin = min(begin, len(text))

    assert assignments._is_variable(text, begin, len(text)) is (line.search(text, begin, len(text)) is not None)


@given(st.binary(min_size=1, max_size=99), st.lists(st.text(min_size=1), min_size=1, max_size=3))
def test_a_mark_ends_with_the_keyed_hash_of_its_secret(key, secrets):
    redactor = Redactor(key)

    for each in secrets:
        digest = hmac.digest(key, each.encode("utf-8", "surrogatepass"), "sha256")
        assert redactor.mark("Some name", each) == f"[secret:some-name:{digest.hex()[:6]}]"
