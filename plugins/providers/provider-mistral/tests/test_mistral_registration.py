"""What the plugin adds, and what the way to the first request costs."""

from __future__ import annotations

import subprocess
import sys

import pi_provider_mistral
from pi_hookspecs import Provider


def in_a_fresh_interpreter(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def test_one_provider_answers_for_the_api_id():
    (provider,) = pi_provider_mistral.register_providers()

    assert isinstance(provider, Provider)
    assert provider.api == "mistral-conversations"


def test_only_the_hook_is_public():
    assert pi_provider_mistral.__all__ == ["register_providers"]


def test_registration_imports_no_client_and_no_codec():
    code = """
import sys, pi_provider_mistral
pi_provider_mistral.register_providers()
heavy = "mistralai httpx orjson jiter jsonschema cattrs importlib_metadata pi_provider_kit".split()
print(*[name for name in heavy if name in sys.modules])
print(*[name for name in sys.modules if name.startswith("pi_provider_mistral.")])
"""
    assert in_a_fresh_interpreter(code) == ["pi_provider_mistral.provider"]


def test_a_whole_request_imports_neither_sdk_nor_validator():
    code = """
import asyncio, sys
from pi_hookspecs import Context, Model, StreamOptions, UserMessage
from pi_provider_mistral import register_providers
from pi_testing.fake_servers.mistral import FakeMistral, completion, text

async def run():
    async with FakeMistral() as server:
        server.answers(completion(text("hello")))
        model = Model(id="m", name="M", api="mistral-conversations", provider="mistral", base_url=server.url)
        context = Context(messages=(UserMessage(content="hi"),))
        (provider,) = register_providers()
        events = [event async for event in provider.stream(model, context, StreamOptions(api_key="k"))]
        print(events[-1].message.text)

asyncio.run(run())
unwanted = "mistralai httpx2 pydantic jsonschema cattrs importlib_metadata click rich anyio httpcore".split()
print(*[name for name in unwanted if name in sys.modules])
"""
    assert in_a_fresh_interpreter(code) == ["hello"]
