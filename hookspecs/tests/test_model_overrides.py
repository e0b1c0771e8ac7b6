"""An override changes what it names in a model, and nothing else."""

from __future__ import annotations

import pytest

from pi_hookspecs import MessageBuilder, Model, ModelCost, PriceTier
from pi_hookspecs.model_json import Wrong, override_of
from pi_testing import for_each

MODEL = Model(
    id="m",
    name="M",
    api="chat",
    provider="acme",
    base_url="https://acme.test",
    headers={"a": "1"},
    cost=ModelCost(input=1, output=2, cache_read=3, tiers=(PriceTier(input_tokens_above=9, input=4, output=5),)),
)


def test_nothing_changes_nothing():
    assert override_of({})(MODEL) == MODEL


def test_rates_that_are_not_named_stay_in_the_tiers_too():
    cost = override_of({"cost": {"output": 7, "tiers": [{"inputTokensAbove": 20, "input": 8}]}})(MODEL).cost

    assert (cost.input, cost.output, cost.cache_read) == (1, 7, 3)
    assert cost.tiers == (PriceTier(input_tokens_above=20, input=8, output=7, cache_read=3),)
    assert override_of({"cost": {"output": 7}})(MODEL).cost.tiers == MODEL.cost.tiers


def test_headers_are_joined_and_texts_replaced():
    changed = override_of({"headers": {"b": "2"}, "api": "other", "baseUrl": "https://b"})(MODEL)

    assert (changed.headers, changed.api, changed.base_url) == ({"a": "1", "b": "2"}, "other", "https://b")


def test_limits_of_input_are_part_of_an_override():
    limits = {"maxRequestBytes": 9, "images": {"maxPerRequest": 2, "resize": {"maxWidth": 640}}}

    assert override_of({"inputLimits": limits})(MODEL).extra == {**MODEL.extra, "inputLimits": limits}
    assert override_of({"name": "n"})(MODEL).extra == MODEL.extra


@for_each(
    ("data", "path"),
    [
        (1, ()),
        ({"name": 1}, ("name",)),
        ({"input": ["smell"]}, ("input", 0)),
        ({"maxTokens": 0}, ("maxTokens",)),
        ({"cost": {"output": "x"}}, ("cost", "output")),
        ({"thinkingLevelMap": {"deep": "x"}}, ("thinkingLevelMap", "deep")),
        ({"inputLimits": 5}, ("inputLimits",)),
        ({"inputLimits": {"maxRequestBytes": 0}}, ("inputLimits", "maxRequestBytes")),
        ({"inputLimits": {"images": {"resize": {"maxWidth": "x"}}}}, ("inputLimits", "images", "resize", "maxWidth")),
    ],
)
def test_what_is_wrong_is_found_at_once(data, path):
    with pytest.raises(Wrong) as caught:
        override_of(data)

    assert caught.value.path == path


def test_arguments_without_end_of_nesting_are_an_error_of_the_call():
    builder = MessageBuilder(MODEL)
    index = builder.tool_call_start("c", "t").content_index
    builder.tool_call(index, '{"a":' + "[" * 100_000)

    assert builder.partial().content[0].arguments == {}
    assert builder.tool_call_end(index).tool_call.arguments_error == "arguments are nested too deeply"
