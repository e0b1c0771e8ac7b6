"""What was fetched of models: facts that replace older ones, and nothing that says where requests go."""

from __future__ import annotations

import json
import tempfile
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_core.models.fetched import CURRENT, FetchedModels
from pi_hookspecs import Model, ModelCost, ProviderInfo

ROW = ProviderInfo(
    id="acme",
    name="Acme",
    api="openai-completions",
    base_url="https://acme.test",
    headers={"x-acme": "1"},
    models=(
        Model(
            id="big-1",
            name="Big",
            api="openai-completions",
            provider="acme",
            base_url="https://acme.test",
            headers={"x-big": "1"},
            compat={"supportsStore": False},
            cost=ModelCost(input=1, output=2),
        ),
        Model(id="old-1", name="Old", api="openai-responses", provider="acme", base_url="https://old.acme.test"),
        Model(id="draw", name="Draw", api="openai-completions", provider="acme", base_url="x", type="image"),
    ),
)
APIS = ("openai-completions", "openai-responses", "other")

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)
models = st.fixed_dictionaries(
    {},
    optional={
        "api": st.sampled_from(APIS),
        "baseUrl": plain,
        "headers": plain,
        "compat": plain,
        "provider": plain,
        "apiKey": plain,
        "name": st.text(max_size=5) | plain,
        "contextWindow": st.integers(1, 9) | plain,
        "maxTokens": st.integers(1, 9) | plain,
        "cost": st.dictionaries(st.sampled_from(["input", "output"]), st.integers(0, 9), max_size=2) | plain,
        "reasoning": st.booleans() | plain,
        "input": plain,
        "thinkingLevelMap": plain,
        "inputLimits": plain,
        "promptCache": plain,
    },
)


def fetched(folder, data, *, version="1.0"):
    content = json.dumps(data).encode()
    (folder / "acme.json").write_bytes(content)
    files = {"acme": {"path": "acme.json", "sha256": sha256(content).hexdigest()}}
    (folder / CURRENT).write_text(json.dumps({"for": {"models": version}, "files": files}))
    return FetchedModels(folder)


@given(st.dictionaries(st.sampled_from(["big-1", "old-1", "draw", "big-2", "new"]), models | plain, max_size=3) | plain)
def test_whatever_was_fetched_models_keep_address_headers_and_quirks(data):
    with tempfile.TemporaryDirectory() as name:
        found = fetched(Path(name), data)

        made = found.row(ROW, "models", "1.0").all_models

    listed = {(each.base_url, each.api, str(each.headers), str(each.compat)) for each in ROW.all_models}
    unlisted = ROW.custom_model("x")
    listed.add((unlisted.base_url, unlisted.api, str(unlisted.headers), str(unlisted.compat)))
    assert {(each.base_url, each.api, str(each.headers), str(each.compat)) for each in made} <= listed
    assert {each.provider for each in made} == {"acme"}
    assert {each.id for each in ROW.all_models} <= {each.id for each in made}
    if found.problems:
        assert made == ROW.all_models


def test_facts_replace_what_was_known_of_a_model(tmp_path):
    found = fetched(tmp_path, {"big-1": {"name": "Bigger", "contextWindow": 9, "maxTokens": 3, "cost": {"output": 4}}})

    big = found.row(ROW, "models", "1.0").model("big-1")

    assert (big.name, big.context_window, big.max_tokens, big.cost) == ("Bigger", 9, 3, ModelCost(output=4))
    assert (big.headers, big.compat) == ({"x-big": "1"}, {"supportsStore": False})


def test_a_new_model_is_served_as_the_one_that_it_resembles(tmp_path):
    facts = {"contextWindow": 9, "maxTokens": 3}
    served = {"big-2": "openai-completions", "old-2": "openai-responses", "x": "other"}
    found = fetched(tmp_path, {each: {"api": api, **facts} for each, api in served.items()})

    row = found.row(ROW, "models", "1.0")

    assert (row.model("big-2").base_url, row.model("big-2").headers) == ("https://acme.test", {"x-big": "1"})
    assert row.model("old-2").base_url == "https://old.acme.test"
    assert row.model("x") is None


@pytest.mark.parametrize(("plugin", "version"), [("models", "1.1"), ("others", "1.0")])
def test_the_table_of_another_version_is_newer_than_what_was_fetched(tmp_path, plugin, version):
    found = fetched(tmp_path, {"big-1": {"contextWindow": 9}})

    assert found.row(ROW, plugin, version) is ROW


def test_nothing_is_read_before_models_are(tmp_path):
    found = fetched(tmp_path, {"big-1": {"contextWindow": 9}})
    row = found.row(ROW, "models", "1.0")
    (tmp_path / "acme.json").unlink()

    assert found.problems == []
    assert row.all_models == ROW.all_models
    assert len(found.problems) == 1
