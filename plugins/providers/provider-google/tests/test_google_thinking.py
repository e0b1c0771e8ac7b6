"""The reasoning effort that is requested."""

from __future__ import annotations

import pytest

UNKNOWN = "gemini-exp-unknown"


@pytest.fixture
def config_of(make_model, chat, payload_of):
    async def config(model_id, reasoning, *, fields=None, **options):
        known = {"id": model_id, "reasoning": True, "max_tokens": 65_536, "context_window": 1_048_576}
        model = make_model(**{**known, **(fields or {})})
        sent = await payload_of(model, chat.user("a"), reasoning=reasoning, **options)
        return sent["generationConfig"]

    return config


@pytest.mark.parametrize(
    ("model_id", "budgets"),
    [
        ("gemini-2.5-pro", (128, 128, 2048, 8192, 32_768)),
        ("gemini-2.5-flash", (0, 128, 2048, 8192, 24_576)),
        ("gemini-2.5-flash-lite", (0, 512, 2048, 8192, 24_576)),
        (UNKNOWN, (0, -1, -1, -1, -1)),
    ],
)
async def test_budgets_by_family(config_of, model_id, budgets):
    levels = (None, "minimal", "low", "medium", "high")
    found = [(await config_of(model_id, level))["thinkingConfig"]["thinkingBudget"] for level in levels]

    assert tuple(found) == budgets


@pytest.mark.parametrize(
    ("model_id", "words"),
    [
        ("gemini-3-flash-preview", ("MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH")),
        ("gemini-3.1-pro-preview", ("LOW", "LOW", "LOW", "MEDIUM", "HIGH")),
        ("gemini-flash-latest", ("MINIMAL", "MINIMAL", "LOW", "MEDIUM", "HIGH")),
    ],
)
async def test_levels_of_gemini_3(config_of, model_id, words):
    levels = ("off", "minimal", "low", "medium", "high")
    found = [(await config_of(model_id, level))["thinkingConfig"]["thinkingLevel"] for level in levels]

    assert tuple(found) == words


async def test_levels_that_the_models_data_rule_out(config_of):
    fields = {"thinking_level_map": {"off": None, "minimal": "MINIMAL", "low": None, "medium": None, "high": "HIGH"}}

    assert (await config_of("gemma-4-31b-it", "low", fields=fields))["thinkingConfig"] == {
        "includeThoughts": True,
        "thinkingLevel": "HIGH",
    }
    assert (await config_of("gemma-4-31b-it", None, fields=fields))["thinkingConfig"] == {"thinkingLevel": "MINIMAL"}


async def test_thoughts_are_asked_for_only_where_there_are_to_be_any(config_of):
    on = (await config_of("gemini-2.5-flash", "low"))["thinkingConfig"]
    off = (await config_of("gemini-2.5-flash", "off"))["thinkingConfig"]

    assert on == {"includeThoughts": True, "thinkingBudget": 2048}
    assert off == {"thinkingBudget": 0}


async def test_the_users_own_budgets_win(config_of):
    budgets = {"medium": 5000}

    for model_id in ("gemini-2.5-pro", UNKNOWN):
        config = await config_of(model_id, "medium", thinking_budgets=budgets)
        assert config["thinkingConfig"]["thinkingBudget"] == 5000


async def test_xhigh_is_high_for_budgets(config_of):
    fields = {"thinking_level_map": {"xhigh": None}}

    assert (await config_of("gemini-2.5-flash", "xhigh", fields=fields))["thinkingConfig"]["thinkingBudget"] == 24_576


async def test_a_budget_comes_on_top_of_the_answer(config_of):
    config = await config_of("gemini-2.5-flash", "medium", max_tokens=500)

    assert (config["maxOutputTokens"], config["thinkingConfig"]["thinkingBudget"]) == (8692, 8192)


async def test_an_answer_keeps_room_next_to_a_thinking_budget(config_of):
    config = await config_of("gemini-2.5-flash", "high", fields={"max_tokens": 8192})

    assert (config["maxOutputTokens"], config["thinkingConfig"]["thinkingBudget"]) == (8192, 7168)


async def test_a_model_without_reasoning_gets_no_reasoning_options(config_of):
    assert "thinkingConfig" not in await config_of("gemini-2.5-pro", "high", fields={"reasoning": False})


@pytest.mark.parametrize(
    ("level", "config"), [(None, None), ("low", {"includeThoughts": True, "thinkingBudget": 2048})]
)
async def test_models_of_others_have_the_common_budgets(make_model, chat, payload_of, level, config):
    model = make_model("google-gemini-cli", id="claude-opus-4-6-thinking", reasoning=True, max_tokens=64_000)
    sent = await payload_of(model, chat.user("a"), reasoning=level)

    assert sent["request"]["generationConfig"].get("thinkingConfig") == config


async def test_a_word_that_google_does_not_know_is_an_error_without_a_request(make_model, chat, reply):
    model = make_model(id="gemini-3-flash", reasoning=True, thinking_level_map={"low": "some"})
    message = await reply(model, chat.user("a"), reasoning="low")

    assert "maps 'low' to 'some', which Google does not accept. Use one of MINIMAL, LOW" in message.error_message
