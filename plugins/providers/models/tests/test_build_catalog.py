"""The script that builds the table: what it takes from models.dev, and what a rule changes."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPT = Path(__file__).resolve().parents[4] / "tools" / "build_catalog.py"

if not SCRIPT.is_file():
    pytest.skip("the script is part of the repository, not of this distribution", allow_module_level=True)


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_catalog", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def source(model_id="big", **fields):
    plain = {
        "id": model_id,
        "name": f"Acme  {model_id}",
        "capabilities": ["reasoning", "tool_call"],
        "input": ["text", "image", "pdf"],
        "output": ["text"],
        "context": 200_000,
        "max_tokens": 64_000,
        "status": None,
        "npm": None,
        "cost": [
            {"above": 200_000, "input": 6.0, "output": 22.5, "cache_read": 0.6000000000000001, "cache_write": None},
            {"above": 0, "input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75},
        ],
    }
    return {**plain, **fields}


USUAL_RESIZE = {"maxWidth": 2000, "maxHeight": 2000, "maxBytes": 4718592, "jpegQuality": 80}
ROW = {"name": "Acme", "baseUrl": "https://acme.test", "api": "openai-completions", "compat": {"supportsStore": False}}


def built(script, sources, rules=(), library=None, **overlay):
    return script.build_provider("acme", {**ROW, **overlay}, rules, lambda _provider: sources, library or {})


def test_a_model_takes_the_shape_of_models_json(script):
    assert script.convert(source()) == {
        "id": "big",
        "name": "Acme big",
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {
            "input": 3,
            "output": 15,
            "cacheRead": 0.3,
            "cacheWrite": 3.75,
            "tiers": [{"inputTokensAbove": 200_000, "input": 6, "output": 22.5, "cacheRead": 0.6}],
        },
        "contextWindow": 200_000,
        "maxTokens": 64_000,
    }


def test_what_is_the_default_is_left_out_and_output_fits_the_window(script):
    model = script.convert(source(capabilities=["tool_call"], input=["text"], cost=[], context=8_192))

    assert model == {"id": "big", "name": "Acme big", "contextWindow": 8_192, "maxTokens": 8_192}


@pytest.mark.parametrize(
    "fields",
    [
        {"capabilities": ["reasoning"]},
        {"input": ["audio"]},
        {"output": ["image"]},
        {"status": "deprecated"},
        {"context": 0},
        {"max_tokens": 0},
    ],
)
def test_a_model_that_an_agent_cannot_use_is_left_out(script, fields):
    assert script.is_for_chat(source())
    assert not script.is_for_chat(source(**fields))


@pytest.mark.parametrize(("price", "output"), [(3.0, "3"), (0.1 + 0.2, "0.3"), (1e-4, "0.0001"), (22.5, "22.5")])
def test_a_price_is_written_without_noise(script, price, output):
    assert json.dumps(script.number(price)) == output


def test_a_tier_keeps_a_rate_of_nought(script):
    cost = script.convert_cost(
        [
            {"above": 0, "input": 1.0, "output": 2.0, "cache_read": 0.0, "cache_write": 3.0},
            {"above": 9, "input": 2.0, "output": 4.0, "cache_read": None, "cache_write": 0.0},
        ]
    )

    tier = {"inputTokensAbove": 9, "input": 2, "output": 4, "cacheWrite": 0}
    assert cost == {"input": 1, "output": 2, "cacheWrite": 3, "tiers": [tier]}


def test_rules_apply_in_order_to_what_they_fit(script):
    rules = [
        {"id": "^b", "api": "anthropic-messages", "baseUrl": "https://acme.test/claude"},
        {"apis": ["anthropic-messages"], "compat": {"a": 1, "b": 1}},
        {"apis": ["anthropic-messages"], "compat": {"b": 2}, "thinkingLevelMap": {"off": False, "max": "max"}},
        {"providers": ["other"], "contextWindow": 1},
        {"npm": "@other", "contextWindow": 1},
        {"id": "^x", "drop": True},
        {"id": "^y-", "cut": "y-", "tiersAbove": 272_000},
    ]

    models = built(script, [source("x1"), source("y-z"), source("Big")], rules)["models"]

    assert [model["id"] for model in models] == ["Big", "z"]
    assert (models[0]["api"], models[0]["baseUrl"]) == ("anthropic-messages", "https://acme.test/claude")
    assert models[0]["compat"] == {"a": 1, "b": 2}
    assert models[0]["thinkingLevelMap"] == {"off": None, "max": "max"}
    assert [model["cost"]["tiers"][0]["inputTokensAbove"] for model in models] == [200_000, 272_000]
    assert models[1].keys() & {"api", "compat", "thinkingLevelMap"} == set()


def test_what_a_model_has_from_its_provider_is_not_repeated(script):
    rules = [{"compat": {"supportsStore": False, "x": 1}, "api": "openai-completions", "baseUrl": "https://acme.test"}]

    (model,) = built(script, [source()], rules)["models"]

    assert model["compat"] == {"x": 1}
    assert model.keys() & {"api", "baseUrl"} == set()


def test_a_model_that_cannot_think_maps_no_levels(script):
    (model,) = built(script, [source(capabilities=["tool_call"])], [{"thinkingLevelMap": {"max": "max"}}])["models"]

    assert "thinkingLevelMap" not in model


def test_models_of_the_overlay_are_added_to_those_of_the_source(script):
    own = {"id": "apple", "contextWindow": 1_000, "maxTokens": 100}

    row = built(script, [source("big"), source("small")], models=[own], ids="^b")

    assert [model["id"] for model in row["models"]] == ["apple", "big"]
    assert own == {"id": "apple", "contextWindow": 1_000, "maxTokens": 100}


def of_original(model_id="big", **fields):
    plain = {
        "id": model_id,
        "name": "Big",
        "type": "chat",
        "api": "openai-completions",
        "provider": "acme-ai",
        "baseUrl": "https://acme.test",
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {"input": 3, "output": 0.30000000000000004, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 200_000,
        "maxTokens": 64_000,
    }
    return {"openai-completions": {f"chat:{model_id}": {**plain, **fields}}}


def test_a_provider_of_the_original_has_its_models_as_they_are_there(script):
    levels = {"off": None, "max": "max"}
    limits = {"maxRequestBytes": 9, "images": {"resize": USUAL_RESIZE, "maxPerRequest": 20}}
    tiers = [{"inputTokensAbove": 9, "input": 6, "output": 0, "cacheRead": 0, "cacheWrite": 0}]
    cost = {"input": 3, "output": 0, "cacheRead": 0.5, "cacheWrite": 0, "tiers": tiers}
    model = of_original(compat={"a": 1}, thinkingLevelMap=levels, inputLimits=limits, cost=cost)
    rules = [{"contextWindow": 1}, {"original": True, "compat": {"b": 2}}]

    (found,) = built(script, [source("other")], rules, {"acme-ai": model}, original="acme-ai", compat={})["models"]

    assert found == {
        "id": "big",
        "name": "Big",
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {"input": 3, "cacheRead": 0.5, "tiers": tiers},
        "contextWindow": 200_000,
        "maxTokens": 64_000,
        "inputLimits": {"maxRequestBytes": 9, "images": {"maxPerRequest": 20}},
        "thinkingLevelMap": levels,
        "compat": {"a": 1, "b": 2},
    }


def test_of_the_original_s_models_only_those_for_conversations_are_taken(script):
    groups = {**of_original("chat"), "images": {"image:i": {"id": "i", "type": "image"}}}
    own = {"id": "chat", "type": "image", "contextWindow": 1_000, "maxTokens": 100}

    def ids(**overlay):
        return [each["id"] for each in built(script, [], (), {"acme": groups}, original="acme", **overlay)["models"]]

    assert ids() == ["chat"]
    assert ids(models=[own]) == ["chat"]
    assert ids(ids="^x") == []


def test_files_are_the_same_each_time_and_read_line_by_line(script):
    overlay = {"providers": {"zero": {**ROW, "source": ""}, "acme": ROW}, "rules": []}
    sources = [source("b"), source("a")]

    files = script.build(overlay, lambda _provider: sources, {}, {}, "somewhere")
    again = script.build(overlay, lambda _provider: sources[::-1], {}, {}, "somewhere")

    assert files == again
    assert sorted(files) == ["acme.json", "providers.json"]
    assert [json.loads(line.rstrip(","))["id"] for line in files["acme.json"].splitlines() if '"id"' in line] == [
        "a",
        "b",
    ]
    index = json.loads(files["providers.json"])
    assert index["source"] == "somewhere"
    assert {name: (row["modelCount"], row["models"]) for name, row in index["providers"].items()} == {
        "acme": (2, "acme.json"),
        "zero": (0, []),
    }


def test_models_say_when_they_end_and_their_provider_says_it_of_those_that_it_no_longer_lists(script):
    overlay = {"providers": {"acme": {**ROW, "models": [{"id": "draw", "type": "image"}]}}, "rules": []}
    ends = {name: {"date": "2026-10-23"} for name in ("old", "a", "gone", "draw")}

    files = script.build(overlay, lambda _provider: [source("a"), source("b")], {}, {"acme": ends}, "somewhere")

    row = json.loads(files["acme.json"])["providers"]["acme"]
    assert {each["id"]: each.get("retirement") for each in row["models"]} == {
        "a": {"date": "2026-10-23"},
        "b": None,
        "draw": None,
    }
    assert row["retirements"] == {"gone": {"date": "2026-10-23"}, "old": {"date": "2026-10-23"}}
    assert "retirements" not in json.loads(files["providers.json"])["providers"]["acme"]


def test_of_litellm_s_models_those_for_conversations_with_a_date_are_taken(script):
    def entry(provider, **fields):
        return {"litellm_provider": provider, "mode": "chat", "deprecation_date": "2026-10-23", **fields}

    data = {
        "gpt-4": entry("openai", successor_model="gpt-5.6-sol", api_base="https://elsewhere.test"),
        "xai/grok-3": entry("xai", mode="responses", successor_model="xai/grok-4"),
        "moonshot/kimi-k2": entry("moonshot", successor_model="<b>\n"),
        "gpt-5": entry("openai", deprecation_date="soon"),
        "gpt-image-1": entry("openai", mode="image_generation"),
        "ft:gpt-4": entry("openai"),
        "bedrock/us-east-1/claude": entry("bedrock"),
        "azure/eu/gpt-4": entry("azure"),
        "elsewhere/model": entry("elsewhere"),
        "sample_spec": "not a model",
    }

    assert script.retirements_in(data) == {
        "openai": {"gpt-4": {"date": "2026-10-23", "successor": "gpt-5.6-sol"}},
        "xai": {"grok-3": {"date": "2026-10-23", "successor": "grok-4"}},
        "moonshotai": {"kimi-k2": {"date": "2026-10-23"}},
        "moonshotai-cn": {"kimi-k2": {"date": "2026-10-23"}},
    }
    with pytest.raises(ValueError, match="not an object"):
        script.retirements_in([])


def test_a_check_names_files_that_differ_are_missing_or_left_over(script, tmp_path):
    for name, text in {"same.json": "1", "changed.json": "1", "left.json": "1"}.items():
        (tmp_path / name).write_text(text)

    assert script.stale({"same.json": "1", "changed.json": "2", "new.json": "1"}, tmp_path) == [
        "changed.json",
        "left.json",
        "new.json",
    ]


def test_the_packages_objects_become_plain_data(script):
    cost = SimpleNamespace(min_context=0, input=1.0, output=2.0, cache_read=None, cache_write=None)
    model = SimpleNamespace(
        id="big",
        name="Big",
        capabilities=frozenset({"tool_call", "reasoning"}),
        modalities=SimpleNamespace(input=("text",), output=("text",)),
        limits=SimpleNamespace(context=10, output=5),
        status=None,
        provider_config=SimpleNamespace(npm="@acme"),
        cost=[cost],
    )

    assert script.plain_model(model) == {
        "id": "big",
        "name": "Big",
        "capabilities": ["reasoning", "tool_call"],
        "input": ["text"],
        "output": ["text"],
        "context": 10,
        "max_tokens": 5,
        "status": None,
        "npm": "@acme",
        "cost": [{"above": 0, "input": 1.0, "output": 2.0, "cache_read": None, "cache_write": None}],
    }


def test_the_page_compares_the_library_that_the_catalogue_was_built_from(script):
    page = (SCRIPT.parent.parent / "docs" / "reference" / "catalogue.md").read_text(encoding="utf-8")

    total, library, same = re.search(r"Of the (\d+) models .* \(`(.*)`\), pi has (\d+)", page).groups()
    rows = re.findall(r"^\| [\w. ()-]+ \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    others = re.findall(r"^\| [\w-]+ \| (\d+) \| [a-z, ]+ \| .+ \|$", page, re.MULTILINE)

    assert library == script.ORIGINAL
    assert (int(total), int(same)) == (sum(int(each) for each, _ in rows), sum(int(each) for _, each in rows))
    assert int(total) - int(same) == sum(map(int, others)) <= 98
