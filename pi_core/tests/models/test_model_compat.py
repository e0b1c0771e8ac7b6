"""A value of the wrong type in ``compat`` of models.json is refused by name; names of plugins have any value."""

from __future__ import annotations

import pytest

from pi_core.models.compat import check_compat, check_compats
from pi_hookspecs.model_json import Wrong
from pi_testing import for_each


@for_each(
    ("name", "value", "wanted"),
    [
        ("supportsStore", "false", "true or false"),
        ("supportsStore", 0, "true or false"),
        ("supportsSomethingOfNextYear", "yes", "true or false"),
        ("requiresToolResultName", [], "true or false"),
        ("sendSessionAffinityHeaders", "no", "true or false"),
        ("zaiToolStream", 1, "true or false"),
        ("forceAdaptiveThinking", "true", "true or false"),
        ("maxTokensField", "max", "one of max_completion_tokens, max_tokens"),
        ("thinkingFormat", "qwen3", "one of openai, "),
        ("thinkingFormat", ["qwen"], "one of openai, "),
        ("sessionAffinityFormat", True, "one of openai, "),
        ("promptCacheKeyMode", "always", "one of auto, "),
        ("thinkingTokenBudgetField", "budget", "one of thinking_token_budget, "),
        ("cacheControlFormat", "openai", "one of anthropic"),
        ("chatTemplateKwargs", "enable_thinking", "an object"),
        ("openRouterRouting", ["azure"], "an object"),
        ("vllmPriority", "1", "a number"),
        ("vllmPriority", True, "a number"),
        ("transport", 5, "a string"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(name, value, wanted):
    with pytest.raises(Wrong, match=rf"compat\.{name} is .*; it must be {wanted}") as raised:
        check_compat({name: value})

    assert raised.value.path == (name,)


@for_each(
    ("name", "value"),
    [
        ("supportsStore", False),
        ("supportsStore", None),
        ("thinkingFormat", "qwen"),
        ("vllmPriority", 1.5),
        ("ofAPlugin", ["anything"]),
        ("supports", "anything"),
    ],
)
def test_right_values_and_names_of_plugins_pass(name, value):
    check_compat({name: value})


@for_each(
    ("data", "path"),
    [
        ({"compat": {"supportsStore": "no"}}, ("compat", "supportsStore")),
        ({"models": [{}, {"compat": {"supportsStore": "no"}}]}, ("models", 1, "compat", "supportsStore")),
        (
            {"modelOverrides": {"m": {"compat": {"supportsStore": "no"}}}},
            ("modelOverrides", "m", "compat", "supportsStore"),
        ),
    ],
)
def test_the_path_leads_to_the_value(data, path):
    with pytest.raises(Wrong) as raised:
        check_compats(data)

    assert raised.value.path == path
