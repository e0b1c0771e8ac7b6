"""Overflow errors of every provider are recognized, and throttling is not mistaken for one."""

from __future__ import annotations

import pytest

from pi_core.models.overflow import is_context_overflow, is_recoverable_length, is_throttling
from pi_hookspecs import AssistantMessage, Usage
from pi_testing import for_each

OVERFLOWS = [
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Prompt too long",
    "Input is too long for requested model.",
    "Your input exceeds the context window of this model.",
    "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens",
    "prompt token count of 168000 exceeds the limit of 128000",
    "the request exceeds the available context size, try increasing it",
    "tokens to keep from the initial prompt is greater than the context length",
    "invalid params, context window exceeds limit",
    "Your request exceeded model token limit: 262144",
    "Prompt contains 99999 tokens, too large for model with 32768 maximum context length",
    "model_context_window_exceeded",
    "context_length_exceeded",
    "400 context length exceeded",
    "too many tokens in the request",
    "token limit exceeded",
    '413 {"error":{"type":"request_too_large"}}',
    "openai API error (413): Request Entity Too Large",
    "400 prompt is too long: 429,123 tokens > 200,000 maximum",
    "prompt is too long: 204,429 tokens > 200,000 maximum",
    "prompt exceeds max length",
    "Requested input exceeds the maximum context length of 65536",
    "context window exceeded",
    "over the maximum allowed input length of 30720 tokens",
    "the prompt is longer than the model's context length",
    "configured context size is 4096",
    "exceeded max context length",
    "Range of input length should be [1, 98304]",
]
OTHERS = [
    "openai API error (429): too many tokens",
    "429 Too many tokens, please wait before trying again",
    "ThrottlingException: Too many tokens per minute",
    "rate limit reached: tokens per minute",
    "Too many requests",
    "500 internal server error",
    "401 invalid x-api-key",
    "",
]


def answer(stop_reason="error", error_message=None, provider="p", **usage):
    return AssistantMessage(
        api="a",
        provider=provider,
        model="m",
        stop_reason=stop_reason,
        error_message=error_message,
        usage=Usage(**usage),
    )


@for_each("text", OVERFLOWS)
def test_an_overflow_is_recognised_in_any_case(text):
    assert is_context_overflow(answer(error_message=text))
    assert is_context_overflow(answer(error_message=text.upper()))


@for_each("text", OTHERS)
def test_other_errors_are_no_overflow(text):
    assert not is_context_overflow(answer(error_message=text))


@pytest.mark.parametrize(("provider", "expected"), [("cerebras", True), ("openai", False)])
def test_an_error_without_body_means_overflow_at_one_provider_only(provider, expected):
    message = answer(error_message="400 status code (no body)", provider=provider)

    assert is_context_overflow(message) is expected


def test_an_answer_beyond_the_window_is_a_silent_overflow():
    message = answer("stop", input=90_000, cache_read=20_000)

    assert is_context_overflow(message, 100_000)
    assert not is_context_overflow(message, 200_000)
    assert not is_context_overflow(message)


def test_no_room_for_an_answer_is_an_overflow():
    assert is_context_overflow(answer("length", input=99_500), 100_000)
    assert not is_context_overflow(answer("length", input=99_500, output=3), 100_000)
    assert not is_context_overflow(answer("length", input=50_000), 100_000)


def test_an_aborted_answer_is_none():
    assert not is_context_overflow(answer("aborted", "prompt is too long", input=200_000), 100_000)


def test_a_cut_below_the_model_s_own_limit_can_be_recovered():
    assert is_recoverable_length(answer("length", output=100), 1000)
    assert not is_recoverable_length(answer("length", output=1000), 1000)
    assert not is_recoverable_length(answer("stop", output=100), 1000)


def test_throttling_is_no_overflow():
    assert is_throttling("Throttling: slow down")
    assert not is_throttling("prompt is too long")
