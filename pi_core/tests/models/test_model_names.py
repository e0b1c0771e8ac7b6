"""Resolving the model names that users type: providers with a key first, ambiguous names are errors."""

from __future__ import annotations

import pytest

from pi_core import ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ProviderInfo, UnknownName, UserError, hookimpl


def row(provider, *ids, **fields):
    models = tuple(Model(id=each, name=each.title(), api="chat", provider=provider) for each in ids)
    variable = f"{provider.upper()}_API_KEY"
    return ProviderInfo(
        **{"id": provider, "name": provider, "api": "chat", "key_variables": (variable,), "models": models, **fields}
    )


class Tables:
    @hookimpl
    def register_models(self):
        return [
            row("acme", "sonnet-4", "sonnet-5", "sonnet-5-20260101", "haiku", "exact:low"),
            row("beta", "sonnet-5", "opus"),
            row("gate", "acme/sonnet-5", "acme/rare", "opus"),
            row("openai", "opus"),
            row("stand-in", "rules", keyless=True, key_variables=()),
        ]


@pytest.fixture
def registry(tmp_path):
    def make(settings=None, **environ):
        settings = Settings.in_memory(settings or {}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Tables(), "tables")
        return ModelRegistry(host, settings, environ)

    return make


@pytest.mark.parametrize(
    ("name", "keys", "meant"),
    [
        ("sonnet", ["ACME"], "acme/sonnet-5"),
        ("sonnet", ["BETA"], "beta/sonnet-5"),
        ("sonnet", ["GATE"], "gate/acme/sonnet-5"),
        ("sonnet-4", ["BETA"], "acme/sonnet-4"),
        ("Haik", [], "acme/haiku"),
        ("acme/son", [], "acme/sonnet-5"),
        ("acme/sonnet-5-2026", [], "acme/sonnet-5-20260101"),
        ("acme/*", ["ACME"], "acme/sonnet-5"),
        ("*-4", ["ACME", "BETA"], "acme/sonnet-4"),
        ("rul", [], "stand-in/rules"),
        ("acme/rare", [], "gate/acme/rare"),
        ("acme/rare", ["GATE"], "gate/acme/rare"),
        ("opus", ["BETA"], "beta/opus"),
    ],
)
def test_a_partial_name_resolves_to_the_newest_model_with_a_key(registry, name, keys, meant):
    models = registry(**{f"{key}_API_KEY": "k" for key in keys})

    assert models.find(name).reference == meant
    assert models.warnings == []


@pytest.mark.parametrize(
    ("name", "provider", "meant", "level"),
    [
        ("acme/sonnet-5:high", None, "acme/sonnet-5", "high"),
        ("sonnet:xhigh", None, "acme/sonnet-5", "xhigh"),
        ("son:off", "acme", "acme/sonnet-5", "off"),
        ("acme/exact:low", None, "acme/exact:low", None),
        ("exact:low", None, "acme/exact:low", None),
        ("exact:low:high", None, "acme/exact:low", "high"),
        ("acme/new-one:max", None, "acme/new-one", "max"),
        ("acme/new-one:8b", None, "acme/new-one:8b", None),
        ("acme/sonnet-5", None, "acme/sonnet-5", None),
    ],
)
def test_a_thinking_level_may_follow_any_name(registry, name, provider, meant, level):
    model, asked = registry(ACME_API_KEY="k").match(name, provider)

    assert (model.reference, asked) == (meant, level)


def test_the_default_provider_is_preferred_among_several_with_a_key(registry):
    keys = {"BETA_API_KEY": "k", "GATE_API_KEY": "k"}

    assert registry({"defaultProvider": "gate"}, **keys).find("opus").reference == "gate/opus"
    with pytest.raises(UserError, match=r"^Model 'opus' may mean beta/opus or gate/opus. Specify one, as in --model "):
        registry(**keys).find("opus")


@pytest.mark.parametrize("name", ["opus", "opu"])
def test_an_ambiguous_name_without_a_key_is_an_error(registry, name):
    with pytest.raises(UserError) as caught:
        registry().find(name)

    message = str(caught.value)
    assert f"Model {name!r} may mean openai/opus or beta/opus or gate/opus." in message
    assert "None of these has a key. Set one (OPENAI_API_KEY, BETA_API_KEY, GATE_API_KEY)" in message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sonet", "similar names are acme/sonnet-4, acme/sonnet-5, acme/sonnet-5-20260101, 2 others"),
        ("acme-haiku", "Did you mean acme/haiku?"),
        ("stand-in", "Unknown model: stand-in. It is a provider: --provider stand-in, or --model stand-in/ID"),
        ("nobody/haikuuu", "No plugin registers a provider 'nobody'"),
        ("zzz:high", "Unknown model: zzz. No model has this in its id or name. pi --list-models [SEARCH] shows"),
        ("acme/*-9", "Unknown model: acme/*-9. pi --list-models acme/ lists"),
    ],
)
def test_the_error_of_an_unknown_name_suggests_similar_models(registry, name, message):
    with pytest.raises(UnknownName) as caught:
        registry().find(name)

    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "usable", "other"),
    [("sonet", "similar names are beta/sonnet-5. ", "acme"), ("beta-opsu", "Did you mean beta/opus?", "openai")],
)
def test_models_that_can_be_used_are_suggested_before_all_others(registry, name, usable, other):
    with pytest.raises(UnknownName) as caught:
        registry(BETA_API_KEY="k").find(name)

    assert usable in str(caught.value)
    assert other not in str(caught.value)


@pytest.mark.parametrize("name", ["son/o", "ahk", "o/s"])
def test_scattered_letters_are_not_similar(registry, name):
    with pytest.raises(UnknownName) as caught:
        registry().find(name)

    assert "similar names" not in str(caught.value)


def test_where_models_json_has_mistakes_no_other_model_is_suggested(registry, tmp_path):
    (tmp_path / "models.json").write_text('{"providers": {"sonnett": {"models": [{"id": "one"}]}}}')

    for name, message in [("sonnett/one", "No plugin registers a provider 'sonnett'"), ("sonet", "No model has this")]:
        with pytest.raises(UnknownName) as caught:
            registry().find(name)
        assert str(caught.value).startswith(f"Unknown model: {name}. {message}")
        assert str(caught.value).endswith("; models.json, which may define it, has errors")
    with pytest.raises(UnknownName) as caught:
        registry().find("one", "sonnett")
    assert str(caught.value) == "Unknown provider: sonnett. models.json, which may define it, has errors"


def test_too_many_similar_models_are_not_suggested(registry):
    models = registry()
    models.register_provider("many", row("many", *(f"no-{number}-per-e" for number in range(30))))

    with pytest.raises(UnknownName) as caught:
        models.find("nope")

    assert "No model has this in its id or name. pi --list-models" in str(caught.value)


def test_a_stored_id_resolves_to_exactly_this_model(registry):
    models = registry()

    assert models.exact("acme", "sonnet-5").reference == "acme/sonnet-5"
    assert models.exact("acme", "sonnet:high").id == "sonnet:high"
    (warning,) = models.warnings
    assert warning.startswith('Model "sonnet:high" not found for provider "acme". Using custom model id.')


def test_a_scope_has_only_models_that_could_answer(registry):
    models = registry(ACME_API_KEY="k")
    models.register_api("chat", lambda *_: None)

    scope = models.scope(["*sonnet-5:low", "beta/opus"])

    assert [(each.model.reference, each.thinking_level) for each in scope.models] == [("acme/sonnet-5", "low")]
    assert scope.warnings == ('No models match pattern "beta/opus"',)


def test_the_default_of_the_settings_may_have_a_level(registry):
    assert registry({"defaultModel": "acme/sonnet-4:low"}).choose().reference == "acme/sonnet-4"


async def test_resolving_returns_the_level_of_the_settings_default(registry):
    models = registry({"defaultModel": "acme/sonnet-4:low"})

    assert (await models.resolve()).thinking_level == "low"
    assert (await models.resolve("acme/haiku:high")).thinking_level == "high"
