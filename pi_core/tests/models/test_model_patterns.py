"""Model patterns: complete ids, parts of ids, globs, and the thinking level suffix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_core.models.patterns import ranked, scope_of, searched, split_level
from pi_hookspecs import THINKING_LEVELS, Model
from pi_testing import for_each


def model(reference, name=None):
    provider, _, model_id = reference.partition("/")
    return Model(id=model_id, name=name or model_id, api="x", provider=provider)


MODELS = [
    model("vendor/sonnet-4", "Sonnet 4"),
    model("vendor/sonnet-4-20250514", "Sonnet 4 (May)"),
    model("vendor/sonnet-5", "Sonnet 5"),
    model("vendor/sonnet-5-20260101", "Sonnet 5 (January)"),
    model("vendor/dated-20250101"),
    model("vendor/dated-2026-02-03"),
    model("gateway/house/sonnet-4", "Sonnet 4"),
    model("gateway/kimi:exacto"),
    model("gateway/odd:high", "Odd"),
    model("other/Sonnet-5"),
    model("other/tool[1m]"),
    model("other/x1", "Grand Opus"),
]


@for_each(
    ("pattern", "first"),
    [
        ("vendor/sonnet-4", "vendor/sonnet-4"),
        ("VENDOR/Sonnet-4", "vendor/sonnet-4"),
        ("sonnet-4-20250514", "vendor/sonnet-4-20250514"),
        ("sonnet", "vendor/sonnet-5"),
        ("sonnet-4", "vendor/sonnet-4"),
        ("sonnet-4-2", "vendor/sonnet-4-20250514"),
        ("dated", "vendor/dated-2026-02-03"),
        ("opus", "other/x1"),
        ("grand o", "other/x1"),
        ("exacto", "gateway/kimi:exacto"),
        ("*sonnet*", "vendor/sonnet-5"),
        ("vendor/*-4", "vendor/sonnet-4"),
        ("vendor/son?et-5", "vendor/sonnet-5"),
        ("vendor/sonnet-[45]", "vendor/sonnet-5"),
        ("tool[1m]", "other/tool[1m]"),
    ],
)
def test_the_best_match_of_a_pattern_comes_first(pattern, first):
    found = ranked(pattern, MODELS)

    assert found[0].reference == first


@for_each("pattern", ["", "opus-9", "vendor", "vendor/sonnet-9", "*opus", "[z]*"])
def test_a_pattern_without_matches_finds_nothing(pattern):
    assert ranked(pattern, MODELS) == []


def test_an_exact_id_excludes_other_matches():
    assert [each.reference for each in ranked("sonnet-5", MODELS)] == ["vendor/sonnet-5", "other/Sonnet-5"]


def test_ids_without_a_date_come_before_dated_ones_and_the_newest_of_each_first():
    assert [each.id for each in ranked("sonnet", MODELS) if each.provider == "vendor"] == [
        "sonnet-5",
        "sonnet-4",
        "sonnet-5-20260101",
        "sonnet-4-20250514",
    ]


@for_each(
    ("pattern", "before", "level"),
    [
        ("sonnet:high", "sonnet", "high"),
        ("a/b:c:xhigh", "a/b:c", "xhigh"),
        ("qwen3:8b", "qwen3:8b", None),
        ("sonnet:", "sonnet:", None),
        (":high", ":high", None),
        ("sonnet:HIGH", "sonnet:HIGH", None),
        ("sonnet", "sonnet", None),
    ],
)
def test_a_level_is_what_follows_the_last_colon(pattern, before, level):
    assert split_level(pattern) == (before, level)


@given(st.text(), st.sampled_from(THINKING_LEVELS))
def test_a_level_suffix_of_any_text_is_split_off(text, level):
    assert split_level(f"{text}:{level}") == ((text, level) if text else (f":{level}", None))


@given(st.text())
def test_any_text_is_a_pattern(text):
    assert set(map(id, ranked(text, MODELS))) <= set(map(id, MODELS))
    assert len(searched(text, MODELS)) <= len(MODELS)
    assert len(scope_of([text], MODELS).models) <= len(MODELS)


# Several patterns


def test_a_scope_has_each_model_once_in_the_order_of_the_patterns():
    scope = scope_of(["opus", "vendor/sonnet-?", " x1 ", "", "sonnet-4:high"], MODELS)

    assert [each.model.reference for each in scope.models] == ["other/x1", "vendor/sonnet-5", "vendor/sonnet-4"]
    assert scope.warnings == ()


def test_a_level_applies_to_all_matches_of_its_pattern():
    scope = scope_of(["gateway/*:low", "x1:max"], MODELS)

    assert {each.model.id: each.thinking_level for each in scope.models} == {
        "house/sonnet-4": "low",
        "odd:high": "low",
        "kimi:exacto": "low",
        "x1": "max",
    }


def test_an_id_that_ends_like_a_level_wins():
    ((odd, level),) = scope_of(["odd:high"], MODELS).models

    assert (odd.id, level) == ("odd:high", None)


def test_invalid_levels_and_patterns_without_matches_give_warnings():
    scope = scope_of(["x1:hihg", "vendor/sonnet-?:9", "nothing", "none:high"], MODELS)

    assert [(each.model.id, each.thinking_level) for each in scope.models] == [
        ("x1", None),
        ("sonnet-5", None),
        ("sonnet-4", None),
    ]
    assert scope.warnings == (
        'Invalid thinking level "hihg" in pattern "x1:hihg". Using default instead.',
        'Invalid thinking level "9" in pattern "vendor/sonnet-?:9". Using default instead.',
        'No models match pattern "nothing"',
        'No models match pattern "none:high"',
    )


# The search of a list


@for_each(
    ("search", "found"),
    [
        ("opus", ["a/opus-4", "b/opus-5"]),
        ("OPUS b/", ["b/opus-5"]),
        ("opus5", ["b/opus-5"]),
        ("son-4", ["a/sonnet-4"]),
        ("sonet4", ["a/sonnet-4"]),
        ("sonnet-5", []),
        ("nope", []),
        ("os5", []),
        ("...", []),
        ("*-4", ["a/opus-4", "a/sonnet-4"]),
        ("a/* son", ["a/sonnet-4"]),
        ("opuss 4", ["a/opus-4"]),
        ("opus zzz", []),
        ("", ["a/opus-4", "a/sonnet-4", "b/opus-5"]),
    ],
)
def test_a_list_is_searched_by_parts_and_patterns_and_else_by_likeness(search, found):
    models = [model(each) for each in ("b/opus-5", "a/sonnet-4", "a/opus-4")]

    assert [each.reference for each in searched(search, models)] == found


def test_a_word_is_not_found_across_the_middle_of_others():
    models = [model("baseten/openai/gpt-oss-120b"), model("x/gemini-2.5-pro")]

    assert searched("nope", models) == []
    assert searched("gptoss", models) == models[:1]
    assert searched("gemini25", models) == models[1:]
