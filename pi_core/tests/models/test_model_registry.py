"""Resolving a model name, choosing a default model, and the key for a request."""

from __future__ import annotations

from datetime import date
from inspect import unwrap

import pytest

from pi_core import ModelRegistry, PluginHost, Settings
from pi_core.models.retirements import retirement_note
from pi_core.models.thinking import clamp_thinking_level, thinking_levels
from pi_hookspecs import MissingKey, Model, ModelCost, NoModel, ProviderInfo, UnknownName, hookimpl
from pi_testing import for_each


def model(provider, model_id, **fields):
    return Model(**{"id": model_id, "name": model_id, "api": "chat", "provider": provider, **fields})


ACME = ProviderInfo(
    id="acme",
    name="Acme",
    api="chat",
    base_url="https://acme.example",
    key_variables=("ACME_TOKEN", "ACME_API_KEY"),
    default_model="big",
    compat={"quirk": True},
    models=(model("acme", "small"), model("acme", "big")),
)
GATEWAY = ProviderInfo(
    id="gateway",
    name="Gateway",
    api="chat",
    key_variables=("GATEWAY_API_KEY",),
    default_model="acme/medium",
    models=(model("gateway", "acme/medium"),),
)
OFFLINE = ProviderInfo(
    id="offline", name="Offline", api="rules", keyless=True, models=(model("offline", "rules", api="rules"),)
)


class Speaks:
    api = "chat"

    def stream(self, model, context, options):
        raise NotImplementedError


class Tables:
    @hookimpl
    def register_models(self):
        return [OFFLINE, GATEWAY, ACME]

    @hookimpl
    def register_providers(self):
        return [Speaks()]


@pytest.fixture
def registry(tmp_path):
    def make(settings=None, **environ):
        settings = Settings.in_memory(settings or {}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Tables(), "tables")
        return ModelRegistry(host, settings, environ)

    return make


# Names


@pytest.mark.parametrize(
    ("reference", "provider", "meant"),
    [
        ("acme/big", None, "acme/big"),
        ("ACME/Big", None, "acme/big"),
        ("big", None, "acme/big"),
        ("big", "acme", "acme/big"),
        ("acme/big", "acme", "acme/big"),
        ("big", "ACME", "acme/big"),
        ("acme/medium", None, "gateway/acme/medium"),
        ("gateway/acme/medium", None, "gateway/acme/medium"),
        ("rules", None, "offline/rules"),
    ],
)
def test_a_name_resolves_to_a_model(registry, reference, provider, meant):
    assert registry().find(reference, provider).reference == meant


def test_an_id_that_a_known_provider_does_not_list_is_used_with_a_warning(registry):
    models = registry()
    found = models.find("acme/new-model")
    models.find("acme/new-model")

    assert (found.reference, found.api, found.base_url) == ("acme/new-model", "chat", "https://acme.example")
    assert found.compat == {"quirk": True}
    assert models.warnings == ['Model "new-model" not found for provider "acme". Using custom model id.']


def test_an_unlisted_model_thinks_and_costs_like_the_one_before_it(registry):
    models = registry()
    opus = Model(
        id="opus-5",
        name="Opus 5",
        api="chat",
        provider="new",
        base_url="https://new.example/opus",
        reasoning=True,
        context_window=1_000_000,
        max_tokens=128_000,
        cost=ModelCost(input=5, output=25),
    )
    models.register_provider("new", ProviderInfo(id="new", name="New", api="chat", models=(opus,)))

    found = models.find("new/opus-6")

    assert (found.id, found.name, found.reference) == ("opus-6", "opus-6", "new/opus-6")
    assert (found.reasoning, found.context_window, found.max_tokens) == (True, 1_000_000, 128_000)
    assert (found.cost.output, found.base_url) == (25, "https://new.example/opus")
    (warning,) = models.warnings
    assert warning.startswith('Model "opus-6" not found for provider "new". Using custom model id. Its limits, ')
    assert warning.endswith("prices are taken to be those of opus-5.")


@pytest.mark.parametrize(
    ("retirement", "said"),
    [
        (
            {"date": "2001-09-09", "successor": "opus-9"},
            "was retired on 2001-09-09; the vendor names opus-9 instead.",
        ),
        ({"date": "2001-09-09"}, "was retired on 2001-09-09."),
        ({"date": "2999-01-01", "successor": "opus-9"}, None),
    ],
)
@pytest.mark.parametrize("is_listed", [True, False])
def test_a_retired_model_says_so_and_names_what_the_vendor_names(registry, retirement, said, is_listed):
    models = registry()
    listed = model("new", "opus-5", extra={"retirement": retirement} if is_listed else {})
    ends = {} if is_listed else {"opus-5": retirement}
    similar = model("new", "opus-5-mini")
    others = (similar, listed) if is_listed else (similar,)
    info = ProviderInfo(id="new", name="New", api="chat", keyless=True, models=others, retirements=lambda: ends)
    models.register_provider("new", info)

    model_id = models.find("new/opus-5").id
    models.check(models.exact("new", model_id))

    assert model_id == "opus-5"
    assert [each for each in models.warnings if "retired" in each] == ([f"new/opus-5 {said}"] if said else [])


def test_a_model_that_is_retired_soon_says_so_a_month_before():
    ending = model("new", "opus-5", extra={"retirement": {"date": "2026-12-11"}})

    assert retirement_note(ending, date(2026, 11, 10)) is None
    assert retirement_note(ending, date(2026, 11, 11)) == "new/opus-5 is going to be retired on 2026-12-11."
    assert retirement_note(ending, date(2026, 12, 11)) == "new/opus-5 was retired on 2026-12-11."


def test_an_unlisted_model_is_not_retired_because_the_one_before_it_is(registry):
    models = registry()
    old = model("new", "opus-5", extra={"retirement": {"date": "2001-09-09"}, "mine": 1})
    models.register_provider("new", ProviderInfo(id="new", name="New", api="chat", keyless=True, models=(old,)))

    found = models.exact("new", "opus-6")

    assert found.extra == {"mine": 1}


def test_an_unknown_provider_names_the_nearest(registry):
    with pytest.raises(UnknownName, match=r"Unknown provider: acne. Did you mean acme?"):
        registry().find("big", "acne")


def test_an_unknown_model_names_the_nearest(registry):
    with pytest.raises(UnknownName, match=r"Unknown model: acme-big. Did you mean acme/big"):
        registry().find("acme-big")


def test_all_providers_are_listed(registry):
    assert registry().provider_ids() == ["acme", "gateway", "offline"]


# The choice when none is named


def test_the_first_provider_with_a_key_is_chosen_by_its_default(registry):
    assert registry(GATEWAY_API_KEY="k").choose().reference == "gateway/acme/medium"
    assert registry(GATEWAY_API_KEY="k", ACME_TOKEN="k").choose().reference == "acme/big"


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({"defaultModel": "acme/small"}, "acme/small"),
        ({"defaultModel": "small", "defaultProvider": "acme"}, "acme/small"),
        ({"defaultProvider": "acme"}, "acme/big"),
        ({"defaultModel": "offline/rules"}, "offline/rules"),
    ],
)
def test_settings_come_before_keys(registry, settings, chosen):
    assert registry(settings, GATEWAY_API_KEY="k").choose().reference == chosen


def test_a_named_provider_comes_before_settings(registry):
    models = registry({"defaultModel": "acme/small"}, ACME_API_KEY="k")

    assert models.choose("gateway").reference == "gateway/acme/medium"
    assert models.choose("offline").reference == "offline/rules"


def test_a_provider_without_a_default_model_is_not_chosen(registry):
    with pytest.raises(NoModel) as caught:
        registry().choose()

    message = str(caught.value)
    assert "No API key found" in message
    assert "ACME_API_KEY" in message
    assert "--model PROVIDER/ID" in message
    assert "--model offline/rules" in message


def test_an_empty_variable_is_no_key(registry):
    with pytest.raises(NoModel):
        registry(ACME_API_KEY="").choose()


# Keys and streams


async def test_the_first_variable_that_is_set_holds_the_key(registry):
    assert await registry(ACME_API_KEY="second").get_api_key("acme") == "second"
    assert await registry(ACME_API_KEY="second", ACME_TOKEN="first").get_api_key("acme") == "first"
    assert await registry().get_api_key("offline") is None


async def test_a_missing_key_names_what_to_set(registry):
    with pytest.raises(MissingKey, match=r"^No API key found for acme. Set ACME_TOKEN or ACME_API_KEY.$"):
        await registry().get_api_key("acme")


async def test_a_key_may_be_missing_because_the_file_with_it_cannot_be_used(registry, tmp_path):
    (tmp_path / "auth.json").write_text('{"acme": {"type": "api_key", "key": "sk-secret"}')
    message = (
        f"No API key found for acme. {tmp_path / 'auth.json'}: cannot be used: it is not JSON: "
        "Expecting ',' delimiter (line 1, column 49). Stored logins and keys are ignored. "
        "Set ACME_TOKEN or ACME_API_KEY."
    )

    with pytest.raises(MissingKey) as caught:
        await registry().get_api_key("acme")
    assert str(caught.value) == message


def test_the_provider_of_the_models_api_streams(registry):
    models = registry()

    assert unwrap(models.stream_of(models.find("acme/big"))).__self__.api == "chat"


def test_the_error_of_an_api_without_a_plugin_names_it(registry):
    models = registry()

    with pytest.raises(NoModel, match="No installed plugin implements the API 'rules'"):
        models.stream_of(models.find("offline/rules"))


# Thinking levels


def test_a_model_that_cannot_think_is_always_off():
    assert thinking_levels(model("a", "m")) == ("off",)
    assert clamp_thinking_level(model("a", "m"), "high") == "off"


@for_each(
    ("table", "level", "clamped"),
    [
        (None, "medium", "medium"),
        (None, "xhigh", "high"),
        (None, "max", "high"),
        ({"xhigh": "max"}, "xhigh", "xhigh"),
        ({"max": "max"}, "xhigh", "max"),
        ({"minimal": None}, "minimal", "low"),
        ({"high": None}, "high", "medium"),
        ({"off": None}, "off", "minimal"),
    ],
)
def test_a_level_that_the_model_lacks_becomes_the_nearest_higher_else_lower(table, level, clamped):
    assert clamp_thinking_level(model("a", "m", reasoning=True, thinking_level_map=table), level) == clamped


class OnlyByName:
    """A provider that can be used when it is named."""

    @hookimpl
    def register_models(self):
        models = (model("stand-in", "double"), model("stand-in", "other"))
        return [ProviderInfo(id="stand-in", name="S", api="chat", keyless=True, only_by_name=True, models=models)]


@pytest.fixture
def by_name(registry):
    def make(**environ):
        found = registry(**environ)
        found.host.add(OnlyByName(), "stand-in")
        return found

    return make


def test_a_model_that_is_only_used_by_name_is_not_among_those_to_choose_from(by_name):
    models = by_name(ACME_API_KEY="k")

    assert {each.provider for each in models.available()} == {"acme"}
    assert {each.model.provider for each in models.scope(["*"]).models} == {"acme"}
    with pytest.raises(NoModel):
        by_name().choose()


def test_a_model_that_is_only_used_by_name_can_be_chosen_while_it_is_in_use(by_name):
    models = by_name(ACME_API_KEY="k")
    in_use = models.find("stand-in/double")

    assert models.available(in_use) == [*models.available(), in_use]
    assert models.available(models.find("acme/small")) == models.available()


def test_a_model_that_is_only_used_by_name_is_found_by_its_name(by_name):
    models = by_name(ACME_API_KEY="k")

    assert models.find("stand-in/double").reference == "stand-in/double"
    assert models.find("double").reference == "stand-in/double"
    assert models.choose("stand-in").reference == "stand-in/double"
    assert models.get_model("stand-in", "double") is not None
    assert [each.model.reference for each in models.scope(["acme/small", "stand-in/other"]).models] == [
        "acme/small",
        "stand-in/other",
    ]


def test_a_models_json_entry_over_a_stand_in_is_used_only_by_name(by_name, tmp_path):
    (tmp_path / "models.json").write_text('{"providers": {"stand-in": {"baseUrl": "https://elsewhere.test"}}}')

    assert by_name().available() == []
    assert by_name().find("stand-in/double").base_url == "https://elsewhere.test"
