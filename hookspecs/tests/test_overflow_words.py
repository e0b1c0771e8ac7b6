"""A conversation that is too long is recognized by the kind of sentence, and other limits are not taken for it.

None of the sentences is in the list of those that are known.
"""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs.failures import kind_of_failure
from pi_hookspecs.overflow_words import is_known_overflow, means_overflow
from pi_testing import for_each

SENTENCES = Path(__file__).parent / "sentences"
TOO_LONG = (SENTENCES / "too_long.txt").read_text(encoding="utf-8").splitlines()
OTHER = (SENTENCES / "other_limits.txt").read_text(encoding="utf-8").splitlines()


@for_each("text", TOO_LONG)
def test_a_sentence_about_a_long_conversation_is_recognized(text):
    assert means_overflow(text)


@for_each("text", OTHER)
def test_a_sentence_about_another_limit_is_not(text):
    assert not means_overflow(text)
    assert not is_known_overflow(text)
    assert kind_of_failure(text, 400) != "overflow"


SUBJECTS = st.sampled_from(
    [
        "the input",
        "your prompt",
        "the conversation",
        "the number of prompt tokens",
        "input length",
        "the chat history",
        "promptTokens",
    ]
)
LIMITS = st.sampled_from(
    [
        "the maximum context length",
        "the context window",
        "the token limit of this model",
        "max_seq_len",
        "the maximum input length",
    ]
)
NUMBERS = st.integers(1000, 2_000_000)


@given(SUBJECTS, LIMITS, NUMBERS, NUMBERS, st.booleans(), st.sampled_from([400, 422, 500, None]))
def test_any_order_of_the_words_is_recognized(subject, limit, number, most, reverse, status):
    sentences = [
        f"{subject} ({number}) exceeds {limit} ({most})",
        f"{limit} is {most}, exceeded by {subject}: {number}",
        f"{limit} of {most} is smaller: {subject} exceeds it with {number}",
        f"cannot run: {subject} with {number} is larger than {limit}",
    ]
    for sentence in reversed(sentences) if reverse else sentences:
        assert kind_of_failure(f'{{"error":{{"message":"{sentence}"}}}}', status) == "overflow", sentence


@given(
    st.sampled_from(
        [
            "the name of tool {}",
            "tools[{}].function.name",
            "the number of tools",
            "max_tokens",
            "the output token limit",
            "tokens per minute",
            "requests per second",
            "the number of images",
            "the call id",
            "stop sequences",
        ]
    ),
    NUMBERS,
    NUMBERS,
    st.sampled_from(["exceeds the limit of", "is larger than", "must be at most", "is too long: the maximum is"]),
)
def test_other_limits_in_the_same_words_are_not(subject, number, most, exceeds):
    assert not means_overflow(f"{subject.format(3)} ({number}) {exceeds} {most}")


@given(st.text(max_size=400))
def test_any_text_can_be_asked_about(text):
    assert means_overflow(text) in (True, False)
