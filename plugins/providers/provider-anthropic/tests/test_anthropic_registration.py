"""What the plugin adds, and what the way to the first request costs."""

from __future__ import annotations

import subprocess
import sys

import pi_provider_anthropic
from pi_hookspecs import CredentialSource, Provider


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_one_provider_answers_for_the_api_id():
    (provider,) = pi_provider_anthropic.register_providers()

    assert isinstance(provider, Provider)
    assert provider.api == "anthropic-messages"


def test_the_environment_s_token_has_a_source():
    (source,) = pi_provider_anthropic.register_credentials()

    assert isinstance(source, CredentialSource)
    assert source.name == "anthropic"


def test_only_the_hooks_are_public():
    assert pi_provider_anthropic.__all__ == ["register_credentials", "register_logins", "register_providers"]


def test_registration_imports_no_client_and_no_codec():
    code = """
import sys, pi_provider_anthropic
pi_provider_anthropic.register_providers(), pi_provider_anthropic.register_credentials()
heavy = "anthropic httpx httpx2 orjson jiter jsonschema cattrs importlib_metadata pi_provider_kit".split()
print(*[name for name in heavy if name in sys.modules])
print(*sorted(name for name in sys.modules if name.startswith("pi_provider_anthropic.")))
"""
    assert in_a_fresh_interpreter(code) == ["pi_provider_anthropic.auth_token", "pi_provider_anthropic.provider"]


def test_a_whole_request_imports_neither_sdk_nor_validator():
    code = """
import asyncio, sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
from pi_provider_anthropic import register_providers
from pi_testing.fake_servers.anthropic import FakeAnthropic, message, text

async def run():
    async with FakeAnthropic() as server:
        server.answers(message(text("hello")))
        model = Model(id="m", name="M", api="anthropic-messages", provider="anthropic", base_url=server.url)
        context = Context(messages=(UserMessage(content="hi"),))
        (provider,) = register_providers()
        events = [event async for event in provider.stream(model, context, StreamOptions(api_key="k"))]
        print(events[-1].message.text)

asyncio.run(run())
unwanted = "anthropic httpx2 pydantic jsonschema cattrs importlib_metadata click rich anyio httpcore".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["hello"]
