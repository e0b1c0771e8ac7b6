"""Levels, budgets and what they leave for the answer."""

from __future__ import annotations

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from pi_hookspecs import (
    THINKING_LEVELS,
    AssistantMessage,
    Context,
    ImageContent,
    Model,
    StreamOptions,
    TextContent,
    ToolCall,
    Usage,
    UserMessage,
)
from pi_provider_kit import (
    clamp_thinking_level,
    claude_thinking,
    default_max_tokens,
    estimate_context_tokens,
    estimate_tokens,
    fit_thinking_budget,
    sampling_params,
    supported_thinking_levels,
    thinking_budget,
)
from pi_testing import for_each

MODEL = Model(id="m", name="M", api="a", provider="p", reasoning=True, context_window=200_000, max_tokens=64_000)


@pytest.mark.parametrize(
    ("mapping", "levels"),
    [
        (None, "off minimal low medium high"),
        ({"xhigh": "max"}, "off minimal low medium high xhigh"),
        ({"minimal": None, "off": None, "max": "ultra"}, "low medium high max"),
    ],
)
def test_the_model_data_name_the_levels(mapping, levels):
    assert supported_thinking_levels(evolve(MODEL, thinking_level_map=mapping)) == tuple(levels.split())


def test_a_model_that_does_not_reason_is_off():
    model = evolve(MODEL, reasoning=False, thinking_level_map={"xhigh": "max"})

    assert supported_thinking_levels(model) == ("off",)
    assert clamp_thinking_level(model, "high") == "off"


@for_each(
    ("mapping", "wanted", "level"),
    [
        (None, "medium", "medium"),
        (None, "xhigh", "high"),
        (None, None, "off"),
        ({"off": None, "minimal": None}, "off", "low"),
        ({"medium": None, "high": None}, "medium", "low"),
        ({"medium": None}, "medium", "high"),
    ],
)
def test_a_level_that_is_not_there_goes_up_before_it_goes_down(mapping, wanted, level):
    assert clamp_thinking_level(evolve(MODEL, thinking_level_map=mapping), wanted) == level


def test_budgets_are_the_contract_s_unless_the_user_says_otherwise():
    assert [thinking_budget(level) for level in THINKING_LEVELS] == [0, 1024, 2048, 8192, 16_384, 16_384, 16_384]
    assert thinking_budget("low", {"low": 99}) == 99
    assert thinking_budget("xhigh", {"high": 20_000}) == 20_000


def test_thinking_comes_on_top_as_far_as_the_model_allows():
    assert fit_thinking_budget(MODEL, 32_000, "high") == (48_384, 16_384)
    assert fit_thinking_budget(MODEL, 64_000, "high") == (64_000, 16_384)
    assert fit_thinking_budget(evolve(MODEL, max_tokens=8192), 8192, "high") == (8192, 7168)
    assert fit_thinking_budget(MODEL, 32_000, "off") == (32_000, 0)


@given(st.integers(1, 100_000), st.integers(1, 100_000), st.sampled_from(THINKING_LEVELS))
def test_the_answer_keeps_its_share(base, most, level):
    max_tokens, budget = fit_thinking_budget(evolve(MODEL, max_tokens=most), base, level)

    assert 0 <= budget < max_tokens <= most or (budget, max_tokens) == (0, most)


def test_the_answer_gets_what_the_window_has_left():
    assert default_max_tokens(MODEL) == 64_000
    assert default_max_tokens(MODEL, 150_000) == 200_000 - 150_000 - 4096
    assert default_max_tokens(MODEL, 300_000) == 1024
    assert default_max_tokens(evolve(MODEL, max_tokens=500), 300_000) == 500


SAMPLING = {
    "samplingParams": {"temperature": 1, "top_p": 0.9},
    "samplingParamsByThinkingLevel": {"off": {"temperature": 0}, "high": {"top_k": 5}},
}


@for_each(
    ("extra", "reasoning", "expected"),
    [
        (SAMPLING, None, {"temperature": 0, "top_p": 0.9}),
        (SAMPLING, "off", {"temperature": 0, "top_p": 0.9}),
        (SAMPLING, "high", {"temperature": 1, "top_p": 0.9, "top_k": 5}),
        (SAMPLING, "max", {"temperature": 1, "top_p": 0.9, "top_k": 5}),
        (SAMPLING, "low", {"temperature": 1, "top_p": 0.9}),
        ({"samplingParams": 5, "samplingParamsByThinkingLevel": {"low": []}}, "low", {}),
        ({}, "low", {}),
    ],
)
def test_a_model_s_own_request_fields_follow_the_level(extra, reasoning, expected):
    model = Model(id="m", name="M", api="a", provider="p", reasoning=True, extra=extra)

    assert sampling_params(model, reasoning) == expected


def test_an_estimate_counts_characters_and_trusts_the_last_usage():
    image = UserMessage(content=(TextContent("abcde"), ImageContent("x", "image/png")))
    answer = AssistantMessage(
        content=(ToolCall("1", "read", {"a": 1}),), api="a", provider="p", model="m", usage=Usage(total_tokens=500)
    )
    failed = evolve(answer, stop_reason="error", usage=Usage(total_tokens=9))

    assert estimate_tokens(UserMessage(content="abcde")) == 2
    assert estimate_tokens(image) == 1202
    assert estimate_context_tokens(Context(system_prompt="x" * 40, messages=(image,))) == 1212
    assert estimate_context_tokens(Context(system_prompt="x" * 40, messages=(image, answer, image))) == 1702
    assert estimate_context_tokens(Context(messages=(answer, failed))) == 503


def test_usage_that_was_counted_before_a_compaction_leaves_the_answer_its_whole_room():
    def answer(timestamp):
        usage = Usage(total_tokens=95_000)
        content = (TextContent("x" * 40),)
        return AssistantMessage(content=content, api="a", provider="p", model="m", usage=usage, timestamp=timestamp)

    model = Model(id="m", name="M", api="a", provider="p", context_window=100_000, max_tokens=32_000)
    summary = UserMessage(content="s" * 400, timestamp=3)
    compacted = Context(messages=(summary, answer(2), UserMessage(content="next", timestamp=2)))
    answered_since = Context(messages=(summary, answer(2), UserMessage(content="next", timestamp=3), answer(4)))

    assert estimate_context_tokens(compacted) == 111
    assert default_max_tokens(model, estimate_context_tokens(compacted)) == 32_000
    assert estimate_context_tokens(answered_since) == 95_000


NO_THINKING = {"thinking": {"type": "disabled"}}
BUDGET = {"type": "enabled"}


@for_each(
    ("level", "most", "how", "asked"),
    [
        ("off", 8000, {"adaptive": True}, (8000, NO_THINKING)),
        ("minimal", 8000, {"budgets": {"minimal": 10}}, (8010, {"thinking": {**BUDGET, "budget_tokens": 1024}})),
        ("high", 8000, {}, (24_384, {"thinking": {**BUDGET, "budget_tokens": 16_384}})),
        ("high", 25_000, {}, (30_000, {"thinking": {**BUDGET, "budget_tokens": 16_384}})),
        ("low", 500, {"room": 500}, (500, NO_THINKING)),
        (
            "minimal",
            8000,
            {"adaptive": True},
            (8000, {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ),
        (
            "xhigh",
            8000,
            {"adaptive": True, "display": True},
            (8000, {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "max"}}),
        ),
    ],
)
def test_claude_gets_a_budget_that_fits_or_an_effort(level, most, how, asked):
    how = {"room": 30_000, "adaptive": False, "display": False, "budgets": None, **how}
    options = StreamOptions(reasoning=level, thinking_budgets=how.pop("budgets"))
    model = evolve(MODEL, thinking_level_map={"xhigh": "max"})

    assert claude_thinking(model, options, most, **how) == asked
