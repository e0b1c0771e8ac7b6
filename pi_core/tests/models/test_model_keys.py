"""The key, headers and base URL of a request, and which models are available without a request."""

from __future__ import annotations

import json
import os

import pytest

from pi_core import AuthStorage, ModelRegistry, PluginHost, Settings
from pi_hookspecs import MissingKey, Model, NoModel, ProviderInfo, StreamOptions, UserError, hookimpl


def row(provider_id, api="chat", **fields):
    model = Model(id="m", name="m", api=api, provider=provider_id, base_url=fields.get("base_url", ""))
    variable = f"{provider_id.upper().replace('-', '_')}_API_KEY"
    defaults = {"name": provider_id, "key_variables": (variable,), "default_model": "m", "models": (model,)}
    return ProviderInfo(id=provider_id, api=api, **{**defaults, **fields})


class Speaks:
    def __init__(self, api="chat"):
        self.api = api

    def stream(self, model, context, options):
        raise NotImplementedError


class Source:
    def __init__(self, name, key="from a plugin", **more):
        self.name = name
        self.key = key
        self.asked = []
        for each, value in more.items():
            setattr(self, each, value)

    async def credential(self, provider):
        self.asked.append(provider)
        return self.key


@pytest.fixture
def registry(tmp_path):
    def make(*rows, providers=None, sources=(), stored=None, settings=None, **environ):
        class Plugin:
            @hookimpl
            def register_models(self):
                return list(rows)

            @hookimpl
            def register_providers(self):
                return [Speaks()]

            @hookimpl
            def register_credentials(self):
                return list(sources)

        if providers is not None:
            (tmp_path / "models.json").write_text(json.dumps({"providers": providers}))
        settings = Settings.in_memory(settings or {}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Plugin(), "plugin")
        environ = {"PATH": os.environ["PATH"], **environ}
        return ModelRegistry(host, settings, environ, auth=AuthStorage.in_memory(stored, environ=environ))

    return make


# The order


async def test_the_first_source_that_has_a_key_is_used(registry):
    places = {
        "stored": {"acme": {"type": "api_key", "key": "stored"}},
        "ACME_API_KEY": "environment",
        "providers": {"acme": {"apiKey": "configured"}},
        "sources": [Source("acme")],
    }
    models = registry(row("acme"), **places)
    models.auth.set_runtime_api_key("acme", "runtime")
    found = [await models.get_api_key("acme")]
    for place in ("stored", "ACME_API_KEY", "providers"):
        found.append(await registry(row("acme"), **places).get_api_key("acme"))
        places[place] = {} if place == "providers" else "" if place == "ACME_API_KEY" else None
    found.append(await registry(row("acme"), **places).get_api_key("acme"))

    assert found == ["runtime", "stored", "environment", "configured", "from a plugin"]


@pytest.mark.parametrize(
    ("written", "key"),
    [("literal", "literal"), ("$TOKEN", "t"), ("${TOKEN}-$$", "t-$"), ("TOKEN", "t"), ("!printf made", "made")],
)
async def test_a_configured_key_is_resolved_for_the_request(registry, written, key):
    assert await registry(row("acme"), providers={"acme": {"apiKey": written}}, TOKEN="t").get_api_key("acme") == key


async def test_a_command_runs_at_the_first_request_and_not_before(registry, tmp_path):
    mark = tmp_path / "ran"
    models = registry(row("acme"), providers={"acme": {"apiKey": f"!touch '{mark}'; echo k"}})
    model = models.find("acme/m")
    models.check(model)
    models.available()
    before = mark.exists()

    assert await models.get_api_key("acme") == "k"
    assert (before, mark.exists()) == (False, True)


async def test_an_unset_variable_is_no_key_and_is_named(registry):
    models = registry(row("acme"), providers={"acme": {"apiKey": "$NOT_SET"}})

    assert not models.is_configured("acme")
    with pytest.raises(MissingKey, match=r"^No API key found for acme. Set ACME_API_KEY or NOT_SET.$"):
        models.check(models.find("acme/m"))


async def test_the_error_of_a_configured_provider_says_where_its_key_is_set(registry):
    models = registry(providers={"mine": {"baseUrl": "u", "api": "chat", "models": [{"id": "m"}]}})

    with pytest.raises(MissingKey, match=r'Set "apiKey" of the provider in models.json, or "keyless": true'):
        models.check(models.find("mine/m"))


async def test_a_command_that_fails_is_reported_without_its_output(registry):
    models = registry(row("acme"), providers={"acme": {"apiKey": "!echo sk-secret; exit 3"}})

    with pytest.raises(UserError, match="exit code 3") as caught:
        await models.get_api_key("acme")
    assert str(caught.value).count("sk-secret") == 1  # as part of the command that the user wrote


# Plugins that answer for keys


async def test_plugins_are_asked_only_for_their_provider(registry):
    mine, other = Source("acme", None), Source("other")
    vault = Source("*", "from the vault")
    models = registry(row("acme"), row("other"), sources=[other, mine, vault])

    assert await models.get_api_key("acme") == "from the vault"
    assert (mine.asked, other.asked, vault.asked) == (["acme"], [], ["acme"])


@pytest.mark.parametrize(("answer", "available"), [(None, False), (True, True), (False, False)])
def test_only_a_plugin_that_says_so_makes_a_provider_available(registry, answer, available):
    more = {} if answer is None else {"available": lambda provider: answer}
    models = registry(row("acme"), sources=[Source("acme", **more)])

    assert bool(models.available()) is available


def test_nothing_is_missing_as_long_as_a_plugin_may_have_the_key(registry):
    models = registry(row("acme"), sources=[Source("acme", None)])
    models.check(models.find("acme/m"))

    models = registry(row("acme"), sources=[Source("acme", available=lambda provider: False)])
    with pytest.raises(MissingKey):
        models.check(models.find("acme/m"))


# Headers and base URLs


async def test_configured_headers_are_resolved_and_the_most_specific_is_used(registry):
    acme = {
        "apiKey": "key",
        "authHeader": True,
        "headers": {"x-a": "$TOKEN", "x-b": "provider"},
        "models": [{"id": "own", "headers": {"x-b": "model"}}],
        "modelOverrides": {"m": {"headers": {"x-c": "!echo run"}}},
    }
    models = registry(row("acme", base_url="https://acme.test"), providers={"acme": acme}, TOKEN="t")
    own, table = models.find("acme/own"), models.find("acme/m")

    assert (own.headers, table.headers) == (None, None)
    auth = await models.get_api_key_and_headers(own)
    assert auth.headers == {"Authorization": "Bearer key", "x-a": "t", "x-b": "model"}
    auth = await models.get_api_key_and_headers(table)
    assert auth.headers == {"Authorization": "Bearer key", "x-a": "t", "x-b": "provider", "x-c": "run"}
    assert "Bearer" not in repr(auth)


async def test_a_header_whose_variable_is_not_set_is_reported(registry):
    models = registry(row("acme"), providers={"acme": {"apiKey": "k", "headers": {"x-team": "a$TEAM"}}})

    with pytest.raises(UserError, match=r"^Set TEAM: the header 'x-team' that is configured for acme"):
        await models.get_api_key_and_headers(models.find("acme/m"))


async def test_placeholders_of_a_base_url_come_from_the_environment(registry):
    cloud = row("cloud", base_url="https://x.test/{ACCOUNT_ID}/{GATEWAY_ID}/v1")
    models = registry(cloud, CLOUD_API_KEY="k", ACCOUNT_ID="a1", GATEWAY_ID="g1")
    auth = await models.get_api_key_and_headers(models.find("cloud/m"))

    assert auth.base_url == "https://x.test/a1/g1/v1"
    models = registry(cloud, CLOUD_API_KEY="k", ACCOUNT_ID="a1")
    with pytest.raises(UserError, match=r"^Set GATEWAY_ID: the base URL of cloud/m"):
        models.check(models.find("cloud/m"))


# How a request is made


async def test_options_are_completed_from_settings_and_environment(registry):
    settings = {"httpIdleTimeoutMs": 1500, "transport": "sse", "thinkingBudgets": {"low": 7, "high": "x"}}
    models = registry(row("acme"), settings=settings, ACME_API_KEY="k", PI_CACHE_RETENTION="long")
    _, options = await models.prepare(models.find("acme/m"), StreamOptions())

    assert (options.api_key, options.headers, options.timeout_ms) == ("k", None, 1500)
    assert (options.transport, options.cache_retention, options.thinking_budgets) == ("sse", "long", {"low": 7})
    assert options.max_retry_delay_ms == 60_000


async def test_a_request_has_limits_of_its_own(registry):
    settings = {"httpIdleTimeoutMs": 1500, "retry": {"provider": {"timeoutMs": 700, "maxRetries": 2}}}
    models = registry(row("acme"), settings=settings, ACME_API_KEY="k")
    _, options = await models.prepare(models.find("acme/m"), StreamOptions())

    assert (options.timeout_ms, options.max_retries, options.max_retry_delay_ms) == (700, 2, 60_000)


async def test_the_progress_timeout_is_separate_from_the_idle_timeout(registry):
    models = registry(row("acme"), settings={"httpProgressTimeoutMs": 90_000}, ACME_API_KEY="k")
    configured = (await models.prepare(models.find("acme/m"), StreamOptions()))[1]
    requested = (await models.prepare(models.find("acme/m"), StreamOptions(progress_timeout_ms=0)))[1]
    unset = (await registry(row("acme"), ACME_API_KEY="k").prepare(models.find("acme/m"), StreamOptions()))[1]

    assert (configured.timeout_ms, configured.progress_timeout_ms) == (300_000, 90_000)
    assert (requested.progress_timeout_ms, unset.progress_timeout_ms) == (0, None)


async def test_options_take_precedence_over_configuration(registry):
    models = registry(row("acme"), PI_CACHE_RETENTION="long", providers={"acme": {"headers": {"a": "1", "b": "1"}}})
    given = StreamOptions(api_key="mine", headers={"b": "2"}, timeout_ms=5, transport="ws", cache_retention="none")
    _, options = await models.prepare(models.find("acme/m"), given)

    assert (options.api_key, options.headers) == ("mine", {"a": "1", "b": "2"})
    assert (options.timeout_ms, options.transport, options.cache_retention) == (5, "ws", "none")


async def test_the_idle_timeout_is_five_minutes_by_default(registry):
    models = registry(row("acme"), ACME_API_KEY="k", PI_CACHE_RETENTION="forever")
    _, options = await models.prepare(models.find("acme/m"), StreamOptions())

    assert (options.timeout_ms, options.transport, options.cache_retention) == (300_000, None, None)
    assert models.warnings == ["PI_CACHE_RETENTION must be none, short or long, not 'forever'."]


async def test_the_transport_of_a_model_overrides_its_providers(registry):
    acme = {"transport": "sdk", "models": [{"id": "own", "transport": "sse"}]}
    models = registry(row("acme"), providers={"acme": acme}, settings={"transport": "auto"}, ACME_API_KEY="k")
    used = [(await models.prepare(models.find(f"acme/{each}"), StreamOptions()))[1].transport for each in ("m", "own")]

    assert used == ["sdk", "sse"]
    assert models.find("acme/own").extra == {}


# What there is, and the choice


def test_available_models_have_a_key_and_an_implemented_api(registry):
    rows = [row("a"), row("b"), row("c", "unspoken"), row("d", keyless=True, key_variables=())]
    models = registry(*rows, A_API_KEY="k", C_API_KEY="k")

    assert [each.reference for each in models.available()] == ["a/m", "d/m"]


def test_only_the_tables_of_providers_with_a_key_are_read(registry):
    def unread():
        raise AssertionError("nobody needs this table")

    models = registry(row("a", models=unread), row("b"), B_API_KEY="k")

    assert models.choose().reference == "b/m"
    assert models.find("b/m").reference == "b/m"
    assert models.find("m").reference == "b/m"
    assert [each.reference for each in models.available()] == ["b/m"]


def test_a_provider_whose_api_is_not_implemented_is_not_chosen(registry):
    assert registry(row("a", "unspoken"), row("b"), A_API_KEY="k", B_API_KEY="k").choose().reference == "b/m"

    with pytest.raises(
        NoModel, match=r"^a has a key, but no installed plugin implements the API unspoken. Sign in .*B_API_KEY"
    ):
        registry(row("a", "unspoken"), row("b"), A_API_KEY="k").choose()


def test_the_message_names_well_known_variables_of_providers_that_can_answer(registry):
    ids = ["aaa", "bbb", "ccc", "google", "openai", "zzz"]
    rows = [row(each) for each in ids] + [
        row("anthropic", "unspoken"),
        row("gemini", key_variables=("GEMINI_TOKEN", "GEMINI_API_KEY")),
    ]
    with pytest.raises(NoModel) as caught:
        registry(*rows).choose()

    assert "(OPENAI_API_KEY, GEMINI_API_KEY, AAA_API_KEY, BBB_API_KEY)" in str(caught.value)
    assert "--model offline/rules" in str(caught.value)


def test_a_provider_with_a_key_is_preferred_to_a_gateway_without_one(registry):
    listed = Model(id="acme/new", name="n", api="chat", provider="gateway")
    rows = [row("acme"), row("gateway", models=(listed,))]

    assert registry(*rows, ACME_API_KEY="k").find("acme/new").provider == "acme"
    assert registry(*rows, GATEWAY_API_KEY="k").find("acme/new").provider == "gateway"


def test_lookups_of_unknown_providers_are_empty(registry):
    models = registry(row("acme"))

    assert models.get_model("acme", "nothing") is None
    assert models.get_model("nobody", "m") is None
    assert models.get_models("nobody") == []
    assert [each.reference for each in models.get_models()] == ["acme/m"]


# At run time


async def test_a_provider_can_be_registered_and_unregistered(registry):
    def stream(model, context, options):
        raise NotImplementedError

    models = registry(row("acme"), providers={"acme": {"headers": {"a": "1"}}}, ACME_API_KEY="k")
    config = {"baseUrl": "https://late.test", "api": "late", "apiKey": "k2", "models": [{"id": "x"}]}
    remove_late = models.register_provider("late", config, stream)
    remove_acme = models.register_provider("acme", {"baseUrl": "https://proxy.test", "headers": {"b": "2"}})

    assert models.stream_of(models.find("late/x")).__wrapped__ is stream
    assert await models.get_api_key("late") == "k2"
    auth = await models.get_api_key_and_headers(models.find("acme/m"))
    assert (auth.base_url, auth.headers) == ("https://proxy.test", {"a": "1", "b": "2"})
    remove_late()
    remove_acme()
    assert models.get_providers() == ["acme"]
    assert models.find("acme/m").base_url == ""
    with pytest.raises(UserError):
        models.stream_of(Model(id="x", name="x", api="late", provider="late"))


async def test_later_registrations_override_earlier_ones_and_are_undone_in_any_order(registry):
    models = registry(ACME_API_KEY="k")
    config = {"baseUrl": "https://a.test", "api": "chat", "apiKey": "k", "headers": {"a": "1"}, "models": [{"id": "m"}]}
    remove_first = models.register_provider("acme", config)
    remove_second = models.register_provider("acme", {"baseUrl": "https://proxy.test", "headers": {"b": "2"}})
    both = await models.get_api_key_and_headers(models.find("acme/m"))
    remove_second()
    first = await models.get_api_key_and_headers(models.find("acme/m"))
    remove_second = models.register_provider("acme", {"baseUrl": "https://proxy.test"})
    remove_first()

    assert (both.base_url, both.headers) == ("https://proxy.test", {"a": "1", "b": "2"})
    assert (first.base_url, first.headers) == ("https://a.test", {"a": "1"})
    assert models.get_model("acme", "m") is None
    remove_second()
    assert models.get_providers() == []


def test_a_row_may_be_registered_as_it_is(registry):
    models = registry()
    models.register_provider("ollama", row("ollama", keyless=True))

    assert models.find("ollama/m").provider == "ollama"
    assert models.is_configured("ollama")


def test_a_wrong_registration_is_refused_and_changes_nothing(registry):
    models = registry(row("acme"))

    with pytest.raises(UserError, match=r"^Cannot register provider 'acme': \['models'\]\[0\]: a model needs an id.$"):
        models.register_provider("acme", {"models": [{}]})
    assert models.find("acme/m").id == "m"
