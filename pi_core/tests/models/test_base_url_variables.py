"""The variable with a provider's address: when it replaces the base URL, and what counts before it."""

from __future__ import annotations

import json

import pytest

from pi_core import ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ProviderInfo, StreamOptions, UserError, hookimpl

OWN = "https://api.acme.example/v2"


def model(model_id, base_url=OWN):
    return Model(id=model_id, name=model_id, api="chat", provider="acme", base_url=base_url)


class Tables:
    @hookimpl
    def register_models(self):
        return [
            ProviderInfo(
                id="acme",
                name="Acme",
                api="chat",
                base_url=OWN,
                base_url_from="{ACME_BASE_URL}/v2",
                keyless=True,
                models=(model("big"), model("labs", "https://labs.acme.example")),
            )
        ]


@pytest.fixture
def registry(tmp_path):
    def make(models_json=None, **environ):
        if models_json is not None:
            (tmp_path / "models.json").write_text(json.dumps({"providers": {"acme": models_json}}))
        settings = Settings.in_memory({}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Tables(), "tables")
        return ModelRegistry(host, settings, environ)

    return make


async def address(models, name="acme/big"):
    prepared, _ = await models.prepare(models.find(name), StreamOptions())
    return prepared.base_url


@pytest.mark.parametrize("value", ["https://gateway.example", "https://gateway.example/", " https://gateway.example "])
async def test_the_variable_replaces_the_base_url_but_not_its_version(registry, value):
    assert await address(registry(ACME_BASE_URL=value)) == "https://gateway.example/v2"


@pytest.mark.parametrize("environ", [{}, {"ACME_BASE_URL": ""}, {"ACME_BASE_URL": "  "}])
async def test_an_empty_variable_counts_as_one_that_is_not_set(registry, environ):
    assert await address(registry(**environ)) == OWN


async def test_an_unlisted_model_goes_where_the_others_go(registry):
    assert await address(registry(ACME_BASE_URL="http://gateway.example"), "acme/newer") == "http://gateway.example/v2"


async def test_a_model_with_an_address_of_its_own_keeps_it(registry):
    models = registry(ACME_BASE_URL="https://gateway.example")

    assert await address(models, "acme/labs") == "https://labs.acme.example"


@pytest.mark.parametrize(
    "configured",
    [
        {"baseUrl": OWN},
        {"models": [{"id": "big", "baseUrl": OWN}]},
        {"modelOverrides": {"big": {"baseUrl": OWN}}},
    ],
)
async def test_models_json_counts_before_the_variable(registry, configured):
    models = registry(configured, ACME_BASE_URL="https://gateway.example")

    assert await address(models) == OWN


async def test_models_json_without_an_address_leaves_it_to_the_variable(registry):
    models = registry({"headers": {"x-team": "tides"}}, ACME_BASE_URL="https://gateway.example")

    assert await address(models) == "https://gateway.example/v2"


async def test_a_provider_that_is_registered_at_run_time_counts_before_the_variable(registry):
    models = registry(ACME_BASE_URL="https://gateway.example")
    unregister = models.register_provider("acme", {"baseUrl": "https://proxy.example"})

    assert await address(models) == "https://proxy.example"

    unregister()

    assert await address(models) == "https://gateway.example/v2"


def test_a_value_that_is_no_address_is_refused_before_a_request(registry):
    models = registry(ACME_BASE_URL="localhost:8080")

    with pytest.raises(
        UserError, match=r"ACME_BASE_URL is 'localhost:8080', which is not a URL. Set it to one that starts"
    ):
        models.check(models.find("acme/big"))
