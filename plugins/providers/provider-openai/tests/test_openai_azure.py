"""Azure: where a deployment is, strict tools, keys and tokens."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from pi_core import create_agent_session
from pi_hookspecs import MissingKey, ProviderInfo, RequestFailed, UserError, hookimpl
from pi_provider_openai.azure import azure_config, deployment_of
from pi_provider_openai.entra import SCOPE, EntraToken
from pi_testing import for_each
from pi_testing.fake_servers.openai import FakeOpenAI, error, response, text

JWT = "eyJhbGciOiJub25lIn0.e30.c2ln"


@pytest.mark.parametrize(
    ("environ", "base_url", "expected"),
    [
        ({"AZURE_OPENAI_RESOURCE_NAME": "r"}, "", "https://r.openai.azure.com/openai/v1"),
        ({"AZURE_OPENAI_BASE_URL": "https://r.openai.azure.com/"}, "", "https://r.openai.azure.com/openai/v1"),
        ({"AZURE_OPENAI_BASE_URL": "https://r.openai.azure.com/openai"}, "", "https://r.openai.azure.com/openai/v1"),
        (
            {"AZURE_OPENAI_BASE_URL": "https://r.openai.azure.com/openai/v1/responses?api-version=v1"},
            "",
            "https://r.openai.azure.com/openai/v1",
        ),
        ({"AZURE_OPENAI_BASE_URL": "https://r.services.ai.azure.com"}, "", "https://r.services.ai.azure.com/openai/v1"),
        (
            {"AZURE_OPENAI_BASE_URL": "https://a.test/x/", "AZURE_OPENAI_RESOURCE_NAME": "r"},
            "https://model.test",
            "https://a.test/x",
        ),
        ({}, "https://model.test/openai/v1", "https://model.test/openai/v1"),
    ],
)
def test_base_urls(make_model, environ, base_url, expected):
    config = azure_config(make_model("azure-openai-responses", base_url=base_url), environ)

    assert (config.base_url, config.api_version, config.deployment) == (expected, "v1", "gpt-fake")


def test_version_and_deployment_come_from_the_environment(make_model):
    environ = {
        "AZURE_OPENAI_RESOURCE_NAME": "r",
        "AZURE_OPENAI_API_VERSION": "2024-12-01-preview",
        "AZURE_OPENAI_DEPLOYMENT_NAME_MAP": "gpt-4o=my-gpt4o, gpt-fake = mine ,",
    }
    config = azure_config(make_model("azure-openai-responses"), environ)

    assert (config.api_version, config.deployment) == ("2024-12-01-preview", "mine")


def test_the_variables_of_the_stored_key_count_first(make_model):
    environ = {"AZURE_OPENAI_BASE_URL": "https://a.test", "AZURE_OPENAI_API_VERSION": "v1"}
    own = {"AZURE_OPENAI_BASE_URL": "https://own.test", "AZURE_OPENAI_DEPLOYMENT_NAME_MAP": "gpt-fake=mine"}

    config = azure_config(make_model("azure-openai-responses"), environ, own)

    assert (config.base_url, config.api_version, config.deployment) == ("https://own.test", "v1", "mine")


@for_each("names", ["", "other=x", "gpt=", "=x", "gpt", ",,"])
def test_a_model_that_the_map_does_not_name_is_deployed_under_its_id(names):
    assert deployment_of("gpt", names) == "gpt"


def test_without_an_address_the_error_says_what_to_set(make_model):
    with pytest.raises(RequestFailed, match="Set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_RESOURCE_NAME"):
        azure_config(make_model("azure-openai-responses", base_url=""), {})


async def test_a_missing_address_is_an_answer_with_an_error(make_model, chat, reply):
    message = await reply(make_model("azure-openai-responses", base_url=""), chat.user("a"), api_key="k")

    assert message.error_message.startswith("The address of Azure OpenAI is unknown.")


async def test_a_missing_key_is_raised(make_model, chat, ask):
    with pytest.raises(MissingKey, match="No API key for provider: fake"):
        await ask(make_model("azure-openai-responses"), chat.user("a"), api_key=None)


@pytest.mark.parametrize(
    ("key", "expected"),
    [("0123456789abcdef", ("0123456789abcdef", None)), (JWT, (None, f"Bearer {JWT}"))],
)
async def test_a_request(make_model, chat, reply, read_tool, monkeypatch, key, expected):
    async with FakeOpenAI() as server:
        monkeypatch.setenv("AZURE_OPENAI_BASE_URL", server.azure_url)
        monkeypatch.setenv("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "gpt-fake=mine")
        server.answers(response(text("Hi")))
        model = make_model("azure-openai-responses")
        message = await reply(model, chat.user("a"), tools=[read_tool], api_key=key, session_id="s1")

    sent = server.request
    assert (message.text, message.error_message) == ("Hi", None)
    assert (sent.path, sent.query) == ("/openai/v1/responses", "api-version=v1")
    assert (sent.headers.get("api-key"), sent.headers.get("authorization")) == expected
    assert not {"session-id", "session_id", "x-client-request-id"} & sent.headers.keys()
    assert (sent.json["model"], sent.json["prompt_cache_key"], sent.json["store"]) == ("mine", "s1", False)
    assert [(tool["name"], tool["strict"]) for tool in sent.json["tools"]] == [("read", False)]


async def test_errors_are_named_for_the_provider(make_model, chat, reply, monkeypatch):
    async with FakeOpenAI() as server:
        monkeypatch.setenv("AZURE_OPENAI_BASE_URL", server.azure_url)
        server.answers(error(429, "Slow"))
        message = await reply(make_model("azure-openai-responses", provider="az{u}re"), chat.user("a"), api_key="k")

    assert message.error_message.startswith('az{u}re API error (429): {"error":{"message":"Slow"')


async def test_cache_retention_is_not_sent(make_model, chat, payload_of):
    model = make_model("azure-openai-responses")
    body = await payload_of(model, chat.user("a"), session_id="s1", cache_retention="long")

    assert {name: value for name, value in body.items() if "cache" in name} == {"prompt_cache_key": "s1"}


# Tokens of Entra


@pytest.fixture
def identity(monkeypatch):
    """A stand-in for the package azure-identity."""
    asked = []

    class DefaultAzureCredential:
        def get_token(self, scope):
            asked.append(scope)
            if len(asked) > 2:
                raise RuntimeError("No managed identity.\nMore lines.")
            return SimpleNamespace(token=f"token{len(asked)}")

    module = ModuleType("azure.identity")
    module.DefaultAzureCredential = DefaultAzureCredential
    monkeypatch.setitem(sys.modules, "azure", ModuleType("azure"))
    monkeypatch.setitem(sys.modules, "azure.identity", module)
    monkeypatch.setattr("pi_provider_openai.entra._credentials", {})
    return asked


async def test_a_token_of_the_environment_is_taken_as_it_is(monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", JWT)

    assert await EntraToken().credential("azure-openai-responses") == JWT
    assert await EntraToken().credential("openai") is None


async def test_an_identity_is_only_looked_for_where_a_resource_is_named(monkeypatch, identity):
    without = await EntraToken().credential("azure-openai-responses")
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE_NAME", "r")

    assert without is None
    assert await EntraToken().credential("azure-openai-responses") == "token1"
    assert await EntraToken().credential("azure-openai-responses") == "token2"
    with pytest.raises(UserError, match=r"No managed identity\. Sign in with `az login`"):
        await EntraToken().credential("azure-openai-responses")
    assert set(identity) == {SCOPE}


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """The package azure-identity, which fails when it is imported."""
    package = tmp_path / "installed" / "azure" / "identity"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemError('imported')")
    monkeypatch.syspath_prepend(package.parents[1])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ([], False),
        (["AZURE_OPENAI_AD_TOKEN"], True),
        (["AZURE_OPENAI_RESOURCE_NAME"], True),
        (["AZURE_OPENAI_BASE_URL"], True),
    ],
)
def test_whether_a_token_is_available_is_known_without_a_request(monkeypatch, installed, variables, expected):
    for name in variables:
        monkeypatch.setenv(name, "set")

    assert EntraToken().available("azure-openai-responses") is expected
    assert EntraToken().available("openai") is False


def test_without_the_package_no_token_can_be_had(monkeypatch):
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE_NAME", "r")

    assert EntraToken().available("azure-openai-responses") is False


async def test_azure_is_chosen_where_there_is_only_a_token(monkeypatch, make_model, pi_host, tmp_path):
    class Served:
        @hookimpl
        def register_models(self):
            model = make_model("azure-openai-responses", provider="azure-openai-responses", base_url=server.base_url)
            return [
                ProviderInfo(
                    id=model.provider,
                    name="Azure",
                    api=model.api,
                    key_variables=("AZURE_OPENAI_API_KEY",),
                    default_model=model.id,
                    models=(model,),
                )
            ]

    async with FakeOpenAI() as server:
        server.answers(response(text("Hi")))
        monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", JWT)
        session = create_agent_session(
            cwd=tmp_path, host=pi_host, settings=pi_host.settings, plugins={"served": Served()}, environ={}
        )
        async with session:
            answer = await session.prompt("Hi")

    assert answer.text == "Hi"
    assert server.request.headers["authorization"] == f"Bearer {JWT}"


async def test_without_the_package_there_is_no_token(monkeypatch):
    monkeypatch.setitem(sys.modules, "azure.identity", None)
    monkeypatch.setenv("AZURE_OPENAI_RESOURCE_NAME", "r")

    assert await EntraToken().credential("azure-openai-responses") is None
