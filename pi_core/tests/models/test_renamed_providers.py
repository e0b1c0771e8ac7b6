"""A provider that the original calls by another name is found by both, in options and in every file."""

from __future__ import annotations

import json

import pytest

from pi_core import AuthStorage, ModelRegistry, PluginHost, Settings
from pi_hookspecs import Model, ProviderInfo, StreamOptions, hookimpl

AZURE = ProviderInfo(
    id="azure-openai-responses",
    name="Azure OpenAI",
    api="chat",
    base_url="https://model.test",
    key_variables=("AZURE_OPENAI_API_KEY",),
    default_model="gpt-a",
    models=(Model(id="gpt-a", name="A", api="chat", provider="azure-openai-responses", base_url="https://model.test"),),
)
STORED = {"azure": {"type": "api_key", "key": "k-12345678", "env": {"AZURE_OPENAI_BASE_URL": "https://own.test"}}}


class Tables:
    api = "chat"

    @hookimpl
    def register_models(self):
        return [AZURE]

    @hookimpl
    def register_providers(self):
        return [self]

    def stream(self, model, context, options):
        raise NotImplementedError


@pytest.fixture
def registry(tmp_path):
    def make(settings=None, stored=None):
        if stored is not None:
            (tmp_path / "auth.json").write_text(json.dumps(stored), encoding="utf-8")
        settings = Settings.in_memory(settings or {}, agent_dir=tmp_path)
        host = PluginHost(settings, installed=False)
        host.add(Tables(), "tables")
        return ModelRegistry(host, settings, {})

    return make


@pytest.mark.parametrize("reference", ["azure/gpt-a", "azure-openai-responses/gpt-a", "Azure/gpt-a", "gpt-a"])
def test_a_model_is_found_by_both_names(registry, reference):
    assert registry().find(reference).reference == "azure-openai-responses/gpt-a"


def test_the_default_provider_of_the_original_s_settings_is_chosen(registry):
    models = registry({"defaultProvider": "azure", "defaultModel": "gpt-a"}, STORED)

    assert models.choose().reference == "azure-openai-responses/gpt-a"


async def test_a_key_under_the_original_s_name_is_used_with_its_variables(registry):
    models = registry(stored=STORED)
    model = models.find("azure/gpt-a")
    _, options = await models.prepare(model, StreamOptions())

    assert models.is_configured("azure-openai-responses")
    assert options.api_key == "k-12345678"
    assert options.env == {"AZURE_OPENAI_BASE_URL": "https://own.test"}
    assert "own.test" not in repr(options)


def test_models_json_may_name_it_so(registry, tmp_path):
    (tmp_path / "models.json").write_text(
        '{"providers": {"azure": {"baseUrl": "https://mine.test"}}}', encoding="utf-8"
    )

    assert registry().find("azure/gpt-a").base_url == "https://mine.test"


async def test_logging_out_removes_the_entry_under_the_name_that_it_has(tmp_path):
    storage = AuthStorage(tmp_path / "auth.json")
    await storage.set("azure", STORED["azure"])

    assert await storage.remove("azure-openai-responses")
    assert storage.get("azure-openai-responses") is None
    assert json.loads((tmp_path / "auth.json").read_text()) == {}
