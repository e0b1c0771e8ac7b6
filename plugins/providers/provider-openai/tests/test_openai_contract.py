"""The contract that holds for every provider: all four APIs, over both transports."""

from __future__ import annotations

import base64
from importlib.util import find_spec

import pytest
from attrs import evolve

from pi_hookspecs import Model, ModelCost
from pi_provider_kit import Http
from pi_provider_openai.providers import AzureResponses, CodexResponses, Completions, Responses
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers import sse_event
from pi_testing.fake_servers.openai import (
    FakeOpenAI,
    call,
    chunks,
    completion,
    completion_events,
    events,
    reasoning,
    response,
    response_events,
    text,
)
from pi_testing.provider_contract import Calls, Says, StreamEventsContract

CLAIMS = base64.urlsafe_b64encode(b'{"https://api.openai.com/auth": {"chatgpt_account_id": "acc_1"}}').decode()


class OpenAICase(ServerCase):
    def __init__(self, server, provider, transport):
        self.server = server
        self.provider = provider
        self.transport = transport
        self.model = Model(
            id="gpt-fake",
            name="Fake",
            api=provider.api,
            provider="openai",
            base_url=server.base_url,
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=2, output=8, cache_read=0.5),
            context_window=200_000,
            max_tokens=8192,
        )


class CompletionsCase(OpenAICase):
    def written(self, blocks, *, usage=None, length=False):
        fields = {"finish": "length"} if length else {}
        if usage is not None:
            read = usage.input + usage.cache_read
            fields["usage"] = {
                "prompt_tokens": read,
                "prompt_tokens_details": {"cached_tokens": usage.cache_read},
                "completion_tokens": usage.output,
                "total_tokens": read + usage.output,
            }
        return completion(*map(on_the_wire, blocks), **fields)

    def written_without_end(self, blocks):
        return chunks(completion_events(*map(on_the_wire, blocks), finish=None), done=False)

    def written_error(self, message):
        return sse_event({"error": {"message": message, "type": "server_error", "code": 503}})


class ResponsesCase(OpenAICase):
    def written(self, blocks, *, usage=None, length=False):
        fields = {}
        if length:
            fields = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        if usage is not None:
            read = usage.input + usage.cache_read
            fields["usage"] = {
                "input_tokens": read,
                "input_tokens_details": {"cached_tokens": usage.cache_read},
                "output_tokens": usage.output,
                "total_tokens": read + usage.output,
            }
        return response(*numbered(blocks), **fields)

    def written_without_end(self, blocks):
        return events(response_events(*numbered(blocks))[:-1])

    def written_error(self, message):
        return sse_event({"type": "error", "code": "server_error", "message": message, "param": None}, "error")


class AzureCase(ResponsesCase):
    def __init__(self, server, provider, transport):
        super().__init__(server, provider, transport)
        self.model = evolve(self.model, provider="azure-openai-responses", base_url=server.azure_url)


class CodexCase(ResponsesCase):
    api_key = f"eyJhbGciOiJub25lIn0.{CLAIMS}.c2ln"

    def __init__(self, server, provider, transport):
        super().__init__(server, provider, transport)
        self.model = evolve(self.model, provider="openai-codex", base_url=server.codex_url)


def on_the_wire(block, number=0):
    if isinstance(block, Says):
        return text(*block.deltas, item_id=f"msg_{number}")
    if isinstance(block, Calls):
        return call(block.id, block.name, deltas=[block.raw] if block.raw else None, **block.arguments)
    return reasoning(*block.deltas, encrypted=block.signature, item_id=f"rs_{number}")


def numbered(blocks):
    return [on_the_wire(block, number) for number, block in enumerate(blocks)]


class OpenAIContract(StreamEventsContract, ProviderContract):
    @pytest.fixture(params=["http", pytest.param("sdk", marks=pytest.mark.slow)])
    async def case(self, request):
        if request.param == "sdk" and find_spec("openai") is None:
            pytest.skip("the SDK is not installed")
        http = Http()
        async with FakeOpenAI() as server:
            yield self.made(server, http, request.param)
        await http.aclose()


class TestCompletions(OpenAIContract):
    def made(self, server, http, transport):
        return CompletionsCase(server, Completions(http), transport)


class TestResponses(OpenAIContract):
    def made(self, server, http, transport):
        return ResponsesCase(server, Responses(http), transport)


@pytest.mark.slow  # the same as the class before, over another address
class TestAzure(OpenAIContract):
    def made(self, server, http, transport):
        return AzureCase(server, AzureResponses(http), transport)


@pytest.mark.slow
class TestCodex(OpenAIContract):
    def made(self, server, http, transport):
        return CodexCase(server, CodexResponses(http), transport)
