"""What the plugin adds, and what the way to the first request costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pi_provider_bedrock
from pi_hookspecs import CredentialSource, Provider


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_one_provider_and_one_source_of_credentials():
    (provider,) = pi_provider_bedrock.register_providers()
    (source,) = pi_provider_bedrock.register_credentials()

    assert isinstance(provider, Provider)
    assert isinstance(source, CredentialSource)
    assert (provider.api, source.name) == ("bedrock-converse-stream", "amazon-bedrock")


def test_only_the_hooks_are_public():
    assert pi_provider_bedrock.__all__ == ["register_credentials", "register_providers"]


def test_registration_imports_no_botocore_and_no_codec():
    code = """
import sys, pi_provider_bedrock
pi_provider_bedrock.register_providers()
pi_provider_bedrock.register_credentials()[0].available("amazon-bedrock")
heavy = "boto3 botocore httpx orjson jiter jsonschema cattrs importlib_metadata".split()
print(*[name for name in heavy if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == []


REQUEST = """
import asyncio, os, sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
from pi_provider_bedrock import register_providers
from pi_testing.fake_servers.bedrock import FakeBedrock, message, text

async def run(key):
    async with FakeBedrock() as server:
        server.answers(message(text("hello")))
        model = Model(id="m", name="M", api="bedrock-converse-stream", provider="amazon-bedrock", base_url=server.url)
        context = Context(messages=(UserMessage(content="hi"),))
        (provider,) = register_providers()
        events = [event async for event in provider.stream(model, context, StreamOptions(api_key=key))]
        print(events[-1].message.text)

"""


def test_a_request_with_a_token_imports_no_botocore():
    code = f"""{REQUEST}
asyncio.run(run("token"))
unwanted = "boto3 botocore jsonschema cattrs importlib_metadata click rich anyio httpcore".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["hello"]


@pytest.mark.slow
def test_a_signed_request_imports_no_boto3():
    code = f"""{REQUEST}
os.environ.update(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b")
asyncio.run(run("<authenticated>"))
print("botocore" in sys.modules, "boto3" in sys.modules)
"""
    assert in_a_fresh_interpreter(code) == ["hello", "True", "False"]
