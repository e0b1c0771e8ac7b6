"""The user's models.json: own providers, changes to those of plugins, and mistakes in it."""

from __future__ import annotations

import json
import os

import pytest

from pi_core import ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ModelCost, ProviderInfo, UnknownName, hookimpl


def model(model_id, **fields):
    return Model(**{"id": model_id, "name": model_id, "api": "chat", "provider": "acme", **fields})


BIG = model("big", base_url="https://acme.test", cost=ModelCost(input=3, output=15), compat={"a": 1, "b": 1})
SMALL = model("small", base_url="https://small.acme.test", headers={"x-table": "1"})
ACME = ProviderInfo(
    id="acme",
    name="Acme",
    api="chat",
    base_url="https://acme.test",
    key_variables=("ACME_API_KEY",),
    default_model="big",
    models=(BIG, SMALL),
)


class Tables:
    api = "chat"

    def __init__(self, *infos):
        self.infos = infos

    @hookimpl
    def register_models(self):
        return list(self.infos)

    @hookimpl
    def register_providers(self):
        return [self]

    def stream(self, model, context, options):
        raise NotImplementedError


@pytest.fixture
def registry(tmp_path):
    def make(content=None, *infos, **environ):
        if content is not None:
            text = content if isinstance(content, str) else json.dumps({"providers": content})
            (tmp_path / "models.json").write_text(text, encoding="utf-8")
        settings = Settings.in_memory({}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Tables(*(infos or (ACME,))), "tables")
        return ModelRegistry(host, settings, environ)

    return make


# A provider of one's own


async def test_a_new_provider_has_what_the_file_says(registry):
    local = {"baseUrl": "http://localhost:11434/v1", "api": "chat", "apiKey": "ollama", "models": [{"id": "qwen"}]}
    models = registry({"ollama": local})
    qwen = models.get_model("ollama", "qwen")

    assert (qwen.name, qwen.api, qwen.base_url) == ("qwen", "chat", "http://localhost:11434/v1")
    assert (qwen.reasoning, qwen.input, qwen.cost) == (False, ("text",), ModelCost())
    assert (qwen.context_window, qwen.max_tokens) == (128_000, 16_384)
    assert models.get_providers() == ["acme", "ollama"]
    assert await models.get_api_key("ollama") == "ollama"
    assert models.warnings == []


def test_providers_of_the_file_keep_its_order_after_the_installed_ones(registry):
    own = {"baseUrl": "https://m.test", "api": "chat", "apiKey": "k", "models": [{"id": "m"}]}
    models = registry({"zeta": own, "acme": {"baseUrl": "https://acme.test"}, "alpha": own})

    assert models.get_providers() == ["acme", "zeta", "alpha"]
    assert [model.provider for model in models.get_models() if model.id == "m"] == ["zeta", "alpha"]


def test_a_provider_that_is_added_comes_last(registry):
    own = {"baseUrl": "https://m.test", "api": "chat", "apiKey": "k", "models": [{"id": "m"}]}
    models = registry({"zeta": own})
    models.register_provider("beta", own)

    assert models.get_providers() == ["acme", "zeta", "beta"]


def test_each_model_can_have_its_own_api_and_base_url(registry):
    entry = {"id": "m", "api": "other", "baseUrl": "https://m.test", "compat": {"x": 2}, "reasoning": True}
    models = registry({"mine": {"apiKey": "k", "compat": {"x": 1, "y": 1}, "models": [entry]}})

    assert models.find("mine/m") == Model(
        id="m",
        name="m",
        api="other",
        provider="mine",
        base_url="https://m.test",
        reasoning=True,
        compat={"x": 2, "y": 1},
    )
    assert models.find("mine/else").api == "other"


async def test_a_provider_may_need_no_key(registry):
    models = registry({"mine": {"baseUrl": "http://h", "api": "chat", "keyless": True, "models": [{"id": "m"}]}})

    assert await models.get_api_key("mine") is None
    assert models.is_configured("mine")


def test_a_provider_of_the_users_own_may_be_chosen_unasked(registry):
    models = registry({"mine": {"baseUrl": "http://h", "api": "chat", "apiKey": "k", "models": [{"id": "m"}]}})
    models.register_api("chat", lambda *_: None)

    assert models.choose().reference == "mine/m"


# Changes to what plugins bring


def test_a_base_url_moves_all_models_of_a_provider(registry):
    models = registry({"acme": {"baseUrl": "https://proxy.test"}})

    assert [each.base_url for each in models.get_models("acme")] == ["https://proxy.test"] * 2
    assert models.find("acme/new").base_url == "https://proxy.test"
    assert [each.id for each in models.get_models("acme")] == ["big", "small"]


def test_a_model_of_the_same_id_replaces_the_one_of_the_table_and_others_are_added(registry):
    models = registry({"acme": {"models": [{"id": "small", "contextWindow": 9}, {"id": "new"}]}})
    small, new = models.get_model("acme", "small"), models.get_model("acme", "new")

    assert (small.context_window, small.headers, small.base_url) == (9, None, "https://acme.test")
    assert (new.api, new.base_url) == ("chat", "https://acme.test")
    assert models.get_model("acme", "big") == BIG


@pytest.mark.parametrize("provider", ["acme", "own"])
def test_the_last_of_two_models_with_one_id_is_used(registry, provider):
    twice = [{"id": "big", "name": "One"}, {"id": "new", "name": "One"}, {"id": "Big", "name": "Two"}]
    models = registry({provider: {"api": "chat", "baseUrl": "https://own.test", "models": twice}})

    assert [each.name for each in models.get_models(provider) if each.id.lower() == "big"] == ["Two"]
    assert models.get_model(provider, "big").name == models.find(f"{provider}/BIG").name == "Two"


def test_overrides_change_what_they_name(registry):
    override = {
        "name": "Bigger",
        "reasoning": True,
        "input": ["text", "image"],
        "cost": {"output": 20},
        "contextWindow": 5,
        "maxTokens": 4,
        "compat": {"b": 2},
        "thinkingLevelMap": {"xhigh": "max"},
    }
    models = registry({"acme": {"modelOverrides": {"big": override, "unknown": {"name": "X"}}}})
    big = models.get_model("acme", "big")

    assert (big.name, big.reasoning, big.input) == ("Bigger", True, ("text", "image"))
    assert big.cost == ModelCost(input=3, output=20)
    assert (big.context_window, big.max_tokens) == (5, 4)
    assert big.compat == {"a": 1, "b": 2}
    assert big.thinking_level_map == {"xhigh": "max"}
    assert models.get_model("acme", "small") == SMALL
    assert models.get_model("acme", "unknown") is None
    assert models.warnings == []


def test_an_override_applies_to_an_unlisted_id(registry):
    models = registry({"acme": {"modelOverrides": {"later": {"contextWindow": 5, "reasoning": True}}}})
    found = models.find("acme/later")

    assert (found.context_window, found.reasoning) == (5, True)
    assert models.get_model("acme", "later") is None


def test_compatibility_of_a_provider_reaches_the_models_of_the_table(registry):
    models = registry({"acme": {"compat": {"b": 3, "c": 3}}})

    assert models.get_model("acme", "big").compat == {"a": 1, "b": 3, "c": 3}


def test_the_table_of_a_provider_that_is_only_moved_is_not_read(registry):
    def read():
        raise AssertionError("nobody looked")

    lazy = ProviderInfo(id="lazy", name="Lazy", api="chat", base_url="https://l", models=read)
    models = registry({"lazy": {"baseUrl": "https://proxy.test", "apiKey": "k"}}, lazy)

    assert models.get_providers() == ["lazy"]
    assert models.is_configured("lazy")
    assert models.provider("lazy").base_url == "https://proxy.test"


# The file


def test_a_changed_file_is_read_again(registry, tmp_path):
    models = registry({"acme": {"baseUrl": "https://one.test"}})
    seen = [models.find("acme/big").base_url]
    file = tmp_path / "models.json"
    file.write_text(json.dumps({"providers": {"acme": {"baseUrl": "https://three.test"}}}))
    seen.append(models.find("acme/big").base_url)
    file.write_text("{")
    seen.append(models.find("acme/big").base_url)
    problems = models.warnings
    file.unlink()
    seen.append(models.find("acme/big").base_url)

    assert seen == ["https://one.test", "https://three.test", "https://acme.test", "https://acme.test"]
    assert len(problems) == 1
    assert models.warnings == []


def test_no_file_an_empty_file_and_a_byte_order_mark_are_no_problem(registry):
    assert registry().warnings == []
    assert registry("").warnings == []
    assert registry("\ufeff{}").warnings == []


HEAD = '{\n  "providers": {\n    "acme": {\n'
BROKEN = [
    ("{\n  oops\n}", 2, "this is not JSON"),
    ("[]", 1, 'this must be an object {"providers"'),
    ('{\n "providers": []}', 2, '"providers" must be an object'),
    ('{"providers": {\n"acme": "sk-secret"}}', 2, "provider 'acme' must be an object"),
    (HEAD + '"baseUrl": 7}}}', 4, "baseUrl is 7; it must be a string"),
    (HEAD + '"headers":\n "sk-secret"}}}', 4, "headers must be an object of strings"),
    (HEAD + '"headers": {\n"x-a": "1",\n"x-key": ["sk-secret"]}}}}', 6, "the header 'x-key' must be a string"),
    (HEAD + '"apiKey": ["sk-secret"]}}}', 4, "apiKey must be a string"),
    (HEAD + '"authHeader": "yes"}}}', 4, "authHeader is 'yes'; it must be true or false"),
    (HEAD + '"models": {}}}}', 4, "models is {}; it must be a list"),
    (HEAD + '"models": [{"id": "a"},\n{"name": "b"}]}}}', 5, "a model needs an id"),
    (HEAD + '"models": [\n{"id": "a", "maxTokens": -1}]}}}', 5, "maxTokens is -1"),
    (HEAD + '"models": [\n{"id": "a", "headers": ["sk-secret"]}]}}}', 5, "headers must be an object of strings"),
    (HEAD + '"modelOverrides": []}}}', 4, "modelOverrides is []; it must be an object"),
    (HEAD + '"modelOverrides": {\n"x": 1}}}}', 5, "an override is 1; it must be an object"),
    (HEAD + '"modelOverrides": {\n"x": {\n"cost": {"input": "free"}}}}}}', 6, "input is 'free'"),
    (
        HEAD + '"compat": {\n"supportsStore": "false"}}}}',
        5,
        "compat.supportsStore is 'false'; it must be true or false",
    ),
    (HEAD + '"models": [{"id": "m",\n"compat": {\n"maxTokensField": "max"}}]}}}', 6, "compat.maxTokensField is 'max'"),
    (HEAD + '"keyVariables": [1]}}}', 4, "keyVariables must be a list of names"),
    ('{"providers": {\n"new": {"apiKey": "k"}}}', 2, "no plugin registers provider 'new', so it needs baseUrl and api"),
    ('{"providers": {"new": {\n"baseUrl": "u",\n"models": [{"id": "m"}]}}}', 3, "model 'm' has no api"),
    ('{\n"provider": {}}', 1, "this has no \"providers\", only ['provider']"),
    ('{"providers": {\n"": {"baseUrl": "u", "api": "chat"}}}', 2, "'' cannot be typed as a provider's name"),
    ('{"providers": {\n" a": {"baseUrl": "u", "api": "chat"}}}', 2, "' a' cannot be typed as a provider's name"),
    ('{"providers": {\n"a\\nb": {"baseUrl": "u", "api": "chat"}}}', 2, "'a\\nb' cannot be typed as a provider's name"),
    (HEAD + '"name": "A"},\n"ACME": {"name": "B"}}}', 5, "'acme' is already in the file, in a different spelling"),
    (HEAD + '"name": "A"},\n"acme": {"name": "B"}}}', 5, "provider 'acme' is in the file more than once"),
    (HEAD + '"models": [{"id": "m"},\n{"id": "M"}]}}}', 5, "model 'M' is in 'acme' more than once"),
    (HEAD + '"models": [{"id": "m",\n"api": "none"}]}}}', 5, "no installed plugin implements the API 'none'"),
    ('{"providers": {"acme": {"name": "//"}, // mine\n"x": {"baseUrl": 5},}}', 2, "baseUrl is 5"),
    ('{"providers": {"acme": {"name": "A"} // mine\n"x": {}}}', 2, "this is not JSON: Expecting ',' delimiter"),
]


@pytest.mark.parametrize(("text", "line", "what"), BROKEN, ids=[what for _, _, what in BROKEN])
def test_a_mistake_is_reported_with_its_line_and_the_rest_works(registry, tmp_path, text, line, what):
    models = registry(text)
    (problem,) = models.warnings

    assert problem.startswith(f"{tmp_path / 'models.json'}, line {line}: ")
    assert what in problem
    assert "sk-secret" not in problem
    assert models.get_model("acme", "big") == BIG


def test_one_broken_provider_costs_no_other(registry):
    models = registry({"acme": {"baseUrl": 7}, "mine": {"baseUrl": "u", "api": "chat", "models": [{"id": "m"}]}})

    assert models.get_model("mine", "m") is not None
    assert "Its settings for 'acme' are ignored" in models.warnings[0]
    with pytest.raises(UnknownName):
        models.provider("other")


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe{}", b"[" * 100_000, b'{"providers": ' + b"9" * 5000 + b"}"],
    ids=["UTF-16", "deep", "digits"],
)
def test_a_file_that_is_no_text_or_nested_too_deeply_is_reported(registry, tmp_path, content):
    (tmp_path / "models.json").write_bytes(content)
    models = registry()

    assert len(models.warnings) == 1
    assert models.get_model("acme", "big") == BIG


def test_a_path_that_is_no_regular_file_is_reported_without_blocking(registry, tmp_path):
    os.mkfifo(tmp_path / "models.json")

    assert "not a regular file" in registry().warnings[0]


def test_an_unreadable_file_is_reported(registry, tmp_path):
    (tmp_path / "models.json").symlink_to(tmp_path / "models.json")

    assert "models.json: it cannot be read: " in registry().warnings[0]


def test_comments_and_a_last_comma_are_no_problem(registry):
    models = registry(
        """{
          // what I run at home
          "providers": {
            "home": {"baseUrl": "http://h//v1", "api": "chat", "models": [{"id": "a//b"}, {"id": "c,]"},],}, // yes
          },
        }"""
    )

    assert models.warnings == []
    assert [(each.id, each.base_url) for each in models.get_models("home")] == [
        ("a//b", "http://h//v1"),
        ("c,]", "http://h//v1"),
    ]


def test_a_provider_of_a_plugin_is_found_case_insensitively(registry):
    models = registry({"Acme": {"baseUrl": "https://moved.test"}})

    assert models.warnings == []
    assert models.get_providers() == ["acme"]
    assert models.get_model("acme", "big").base_url == "https://moved.test"


def test_the_last_of_duplicate_keys_is_used(registry):
    models = registry('{"providers": {"acme": {"name": "A"},\n"acme": {\n"name": 5}}}')

    assert [each.partition("line ")[2] for each in models.warnings] == [
        "2: provider 'acme' is in the file more than once; only this one is used.",
        "3: name is 5; it must be a string. Its settings for 'acme' are ignored.",
    ]
