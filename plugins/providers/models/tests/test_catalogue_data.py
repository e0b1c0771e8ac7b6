"""The table holds what it promises, and nothing in it contradicts itself."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

import pi_models
from pi_testing import for_each

DATA = Path(pi_models.__file__).parent / "data"
INDEX = json.loads((DATA / "providers.json").read_text(encoding="utf-8"))["providers"]
INFOS = {info.id: info for info in pi_models.register_models()}
LOCAL = {
    "ollama": "http://127.0.0.1:11434/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "llama-cpp": "http://127.0.0.1:8080/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
APIS = """anthropic-messages openai-completions openai-responses azure-openai-responses openai-codex-responses
    bedrock-converse-stream google-generative-ai google-vertex google-gemini-cli mistral-conversations""".split()
CONTRACT = """anthropic openai openai-codex azure-openai-responses google google-vertex google-gemini-cli
    google-antigravity amazon-bedrock github-copilot xai groq cerebras openrouter vercel-ai-gateway zai mistral minimax
    minimax-cn huggingface kimi-coding opencode opencode-go deepseek fireworks moonshotai moonshotai-cn
    cloudflare-workers-ai cloudflare-ai-gateway xiaomi xiaomi-token-plan-cn xiaomi-token-plan-ams xiaomi-token-plan-sgp
    together baseten nvidia ant-ling meta zai-coding-cn qwen-token-plan qwen-token-plan-cn qwen-token-plan-individual
    qwen-token-plan-individual-cn cohere""".split()
LEVELS = {"off", "minimal", "low", "medium", "high", "xhigh", "max"}

each_provider = for_each("info", INFOS.values())


def model(reference):
    provider, _, model_id = reference.partition("/")
    return INFOS[provider].model(model_id)


def test_there_are_providers_and_models_enough():
    assert len(INFOS) >= 35
    assert sum(len(info.models) for info in INFOS.values()) >= 1_000


def test_image_models_and_classifiers_have_an_api_of_their_own_and_a_price_where_they_cost():
    others = [model for info in INFOS.values() for model in info.all_models if model.type]

    assert {model.provider for model in others if model.type == "image"} == {"openai", "google", "openrouter"}
    assert {model.api for model in others if model.type == "classifier"} == {"openai-moderations"}
    for each in others:
        assert each.api not in APIS
        assert each.cost.output > 0 or each.type == "classifier"
        assert each.reference not in {model.reference for info in INFOS.values() for model in info.models}


def test_every_provider_of_the_contract_is_there():
    assert set(CONTRACT) - set(INFOS) == set()


@each_provider
def test_a_row_can_be_used(info):
    assert info.name
    assert info.api in APIS
    assert info.base_url.startswith(("https://", "http://127.0.0.1:")) or info.id == "azure-openai-responses"
    assert not info.base_url.endswith("/")


@each_provider
def test_the_index_matches_the_providers_file(info):
    row = dict(INDEX[info.id])
    count, file = row.pop("modelCount"), row.pop("models")

    assert count == len(info.all_models)
    if count:
        assert file == f"{info.id}.json"
        whole = json.loads((DATA / file).read_text(encoding="utf-8"))["providers"]
        assert list(whole) == [info.id]
        later = ("models", "retirements")
        assert {key: value for key, value in whole[info.id].items() if key not in later} == row


def test_every_file_belongs_to_a_provider():
    files = {path.name for path in DATA.iterdir()}

    assert files == {"providers.json", *(f"{name}.json" for name, row in INDEX.items() if row["modelCount"])}


@each_provider
def test_the_default_model_is_one_of_the_models(info):
    if info.id in LOCAL:
        assert info.default_model is None
    else:
        assert info.default_model in {each.id for each in info.models}


@each_provider
def test_model_ids_are_sorted_and_differ_in_more_than_case(info):
    ids = [each.id for each in info.models]

    assert ids == sorted(ids)
    assert len({each.lower() for each in ids}) == len(ids)


@each_provider
def test_models_can_be_used(info):
    for each in info.models:
        assert each.name, each.id
        assert each.provider == info.id, each.id
        assert each.api in APIS, each.id
        assert 0 < each.max_tokens <= each.context_window, each.id
        assert each.input in {("text",), ("text", "image")}, each.id
        assert set(each.extra) <= {"inputLimits", "retirement"}, each.id


def test_retired_models_have_a_date_whether_they_are_listed_or_not():
    listed = [
        each.extra["retirement"] for info in INFOS.values() for each in info.all_models if "retirement" in each.extra
    ]
    others = [each for info in INFOS.values() for each in info.retirements.values()]

    assert min(len(listed), len(others)) > 50
    assert all(date.fromisoformat(each["date"]) for each in (*listed, *others))
    assert all(info.model(each) is None for info in INFOS.values() for each in info.retirements)


@each_provider
def test_no_price_is_negative_and_tiers_rise(info):
    for each in info.models:
        rates = [each.cost, *each.cost.tiers]
        assert all(min(rate.input, rate.output, rate.cache_read, rate.cache_write) >= 0 for rate in rates), each.id
        above = [tier.input_tokens_above for tier in each.cost.tiers]
        assert above == sorted(set(above)), each.id


@each_provider
def test_only_models_that_think_map_levels_and_each_has_one_left(info):
    for each in info.models:
        if each.thinking_level_map is not None:
            assert each.reasoning, each.id
            assert set(each.thinking_level_map) <= LEVELS, each.id
            refused = {level for level, value in each.thinking_level_map.items() if value is None}
            mapped = set(each.thinking_level_map) - refused
            usable = (LEVELS - {"xhigh", "max", "off"} - refused) | (mapped - {"off"})
            assert usable, each.id


@pytest.mark.parametrize(("name", "url"), LOCAL.items())
def test_servers_of_this_machine_need_no_key_and_have_no_models_yet(name, url):
    info = INFOS[name]

    assert (info.base_url, info.keyless, info.key_variables, info.models) == (url, True, (), ())


@for_each(
    ("name", "variables"),
    [
        ("anthropic", ("ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_API_KEY")),
        ("google", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        ("github-copilot", ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")),
        ("minimax-cn", ("MINIMAX_CN_API_KEY",)),
        ("huggingface", ("HF_TOKEN",)),
        ("openai-codex", ()),
    ],
)
def test_keys_are_looked_up_in_the_order_of_the_contract(name, variables):
    assert INFOS[name].key_variables == variables


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("openai", "{OPENAI_BASE_URL}"),
        ("anthropic", "{ANTHROPIC_BASE_URL}"),
        ("google", "{GOOGLE_GEMINI_BASE_URL}/v1beta"),
        ("openai-codex", ""),
    ],
)
def test_the_vendors_variables_replace_the_address(name, address):
    assert INFOS[name].base_url_from == address


def test_a_vendor_that_speaks_several_apis_names_one_per_model():
    assert [model(f"github-copilot/{each}").api for each in ("claude-opus-4.8", "gpt-6.1-sol", "kimi-k3")] == [
        "anthropic-messages",
        "openai-responses",
        "openai-completions",
    ]
    assert {each.api for each in INFOS["opencode"].models} == {
        "anthropic-messages",
        "openai-completions",
        "openai-responses",
        "google-generative-ai",
    }
    assert {each.api for each in INFOS["vercel-ai-gateway"].models} == {"anthropic-messages"}
    assert len({each.api for each in INFOS["cloudflare-ai-gateway"].models}) == 3


def test_a_model_has_its_place_quirks_and_headers():
    assert model("opencode/claude-opus-4-6").base_url == "https://opencode.ai/inference/anthropic"
    assert model("openrouter/anthropic/claude-opus-4.6").base_url == "https://openrouter.ai/api"
    assert model("github-copilot/claude-opus-4.8").headers["Copilot-Integration-Id"] == "vscode-chat"
    assert model("deepseek/deepseek-v4-pro").compat["requiresReasoningContentOnAssistantMessages"] is True
    assert model("deepinfra/moonshotai/Kimi-K2.6").compat["maxTokensField"] == "max_tokens"


def test_xhigh_and_max_are_there_only_where_they_are_mapped():
    assert model("anthropic/claude-sonnet-4-5").thinking_level_map is None
    assert model("anthropic/claude-opus-4-6").thinking_level_map == {"max": "max"}
    assert model("openai/gpt-5.4").thinking_level_map["xhigh"] == "xhigh"
    assert model("openai/gpt-5.4").thinking_level_map["max"] is None


def test_mistral_models_think_by_the_levels_that_they_have():
    thinking = [each for each in INFOS["mistral"].models if each.reasoning]

    assert {"magistral-medium-latest", "mistral-large-latest"} <= {each.id for each in thinking}
    for each in thinking:
        assert each.thinking_level_map["high"] == "high", each.id


def test_prices_have_cache_rates_and_tiers():
    cost = model("openai/gpt-5.4").cost

    assert (cost.input, cost.output, cost.cache_read) == (2.5, 15, 0.25)
    assert [(tier.input_tokens_above, tier.input, tier.output) for tier in cost.tiers] == [(272_000, 5, 22.5)]
    assert model("anthropic/claude-opus-4-6").cost.cache_write == 6.25


def test_openai_s_own_models_take_strict_tools():
    assert all(each.compat["supportsStrictMode"] is True for each in INFOS["openai"].models)
    assert "supportsStrictMode" not in (INFOS["openai"].compat or {})


def test_the_data_names_its_source_and_has_its_license():
    member = Path(__file__).parent.parent

    source = json.loads((DATA / "providers.json").read_text(encoding="utf-8"))["source"]
    for name, license_file in (("models.dev", "LICENSE-models.dev"), ("@earendil-works/pi-ai", "LICENSE-pi-ai")):
        assert name in source
        assert license_file in (member / "README.md").read_text(encoding="utf-8")
        assert (member / license_file).read_text(encoding="utf-8").startswith("MIT License")
