"""What the plugin adds, and what it costs a run that uses it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_provider_openai
from pi_hookspecs import CredentialSource, Provider

HEAVY = "openai httpx2 pydantic jsonschema cattrs importlib_metadata azure click"


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_all_apis_have_providers():
    providers = pi_provider_openai.register_providers()

    assert all(isinstance(provider, Provider) for provider in providers)
    assert [provider.api for provider in providers] == [
        "openai-completions",
        "openai-responses",
        "azure-openai-responses",
        "openai-codex-responses",
        "openai-images",
        "openrouter-images",
        "openai-moderations",
    ]


def test_azure_has_a_source_of_tokens():
    (source,) = pi_provider_openai.register_credentials()

    assert isinstance(source, CredentialSource)
    assert source.name == "azure-openai-responses"


def test_registration_loads_no_codec_and_no_client():
    code = """
import sys, pi_provider_openai
pi_provider_openai.register_providers(), pi_provider_openai.register_credentials()
unwanted = "httpx httptools orjson jiter openai azure pi_provider_openai.exchange pi_provider_openai.feed".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == []


@pytest.mark.slow
@pytest.mark.parametrize("api", ["openai-completions", "openai-responses", "azure-openai-responses"])
def test_a_request_imports_no_sdk_and_nothing_heavy(api):
    code = f"""
import asyncio, sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
import pi_provider_openai
provider = {{p.api: p for p in pi_provider_openai.register_providers()}}["{api}"]
model = Model(id="m", name="M", api="{api}", provider="p", base_url="http://127.0.0.1:9/v1", reasoning=True)
async def run():
    context = Context(system_prompt="S", messages=(UserMessage(content="Hi"),))
    return [event.type async for event in provider.stream(model, context, StreamOptions(api_key="k"))]
print(*asyncio.run(run()))
print(*[name for name in "{HEAVY}".split() if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["error"]


def test_only_what_is_there_is_offered():
    assert all(hasattr(pi_provider_openai, name) for name in pi_provider_openai.__all__)
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = pi_provider_openai.other
