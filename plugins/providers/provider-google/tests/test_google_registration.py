"""What the plugin adds, and what it costs a run that uses it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_provider_google
from pi_hookspecs import CredentialSource, Provider

HEAVY = "google.genai google.auth google.oauth2 requests httpx2 pydantic jsonschema cattrs importlib_metadata click"


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_all_apis_have_providers():
    providers = pi_provider_google.register_providers()

    assert all(isinstance(provider, Provider) for provider in providers)
    assert [provider.api for provider in providers] == [
        "google-generative-ai",
        "google-images",
        "google-vertex",
        "google-gemini-cli",
    ]


def test_vertex_has_a_source_of_credentials():
    (source,) = pi_provider_google.register_credentials()

    assert isinstance(source, CredentialSource)
    assert source.name == "google-vertex"


def test_registration_loads_no_codec_and_no_client():
    code = f"""
import sys, pi_provider_google
pi_provider_google.register_providers()
[source.available("google-vertex") for source in pi_provider_google.register_credentials()]
unwanted = "httpx httptools orjson jiter pi_provider_google.exchange pi_provider_google.reading {HEAVY}".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("api", "key"),
    [
        ("google-generative-ai", "k"),
        ("google-vertex", "k"),
        ("google-gemini-cli", '{"token":"t","projectId":"p"}'),
    ],
)
def test_a_request_imports_no_sdk_and_nothing_heavy(api, key):
    code = f"""
import asyncio, sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
import pi_provider_google
provider = {{p.api: p for p in pi_provider_google.register_providers()}}["{api}"]
model = Model(id="m", name="M", api="{api}", provider="p", base_url="http://127.0.0.1:9/v1beta", reasoning=True)
async def run():
    context = Context(system_prompt="S", messages=(UserMessage(content="Hi"),))
    return [event.type async for event in provider.stream(model, context, StreamOptions(api_key={key!r}))]
print(*asyncio.run(run()))
print(*[name for name in "{HEAVY}".split() if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["error"]


def test_only_what_is_there_is_offered():
    assert all(hasattr(pi_provider_google, name) for name in pi_provider_google.__all__)
