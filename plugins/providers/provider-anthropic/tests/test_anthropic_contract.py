"""The contract that holds for every provider, over both transports."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from pi_hookspecs import Model, ModelCost
from pi_provider_anthropic.provider import AnthropicMessages
from pi_provider_kit import Http
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers.anthropic import (
    FakeAnthropic,
    error_event,
    event,
    message_events,
    stream,
    text,
    thinking,
    tool_use,
)
from pi_testing.provider_contract import Calls, Says, StreamEventsContract


class AnthropicCase(ServerCase):
    def __init__(self, server, http, transport):
        self.server = server
        self.provider = AnthropicMessages(http)
        self.transport = transport
        self.model = Model(
            id="claude-fake",
            name="Fake",
            api="anthropic-messages",
            provider="anthropic",
            base_url=server.url,
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75),
            context_window=200_000,
            max_tokens=8192,
        )

    def events(self, blocks, usage=None, *, length=False):
        counted = {}
        if usage is not None:
            counted["usage"] = {"input_tokens": usage.input, "cache_read_input_tokens": usage.cache_read}
            counted["output_tokens"] = usage.output
        return message_events(*map(on_the_wire, blocks), stop="max_tokens" if length else None, **counted)

    def written(self, blocks, *, usage=None, length=False):
        return stream(self.events(blocks, usage, length=length))

    def written_without_end(self, blocks):
        return stream(self.events(blocks)[:-2])

    def written_error(self, message):
        return event(error_event("overloaded_error", message))


def on_the_wire(block):
    if isinstance(block, Says):
        return text(*block.deltas)
    if isinstance(block, Calls):
        return tool_use(block.id, block.name, deltas=[block.raw] if block.raw else None, **block.arguments)
    return thinking(*block.deltas, signature=block.signature)


class TestAnthropic(StreamEventsContract, ProviderContract):
    @pytest.fixture(params=["http", pytest.param("sdk", marks=pytest.mark.slow)])
    async def case(self, request):
        if request.param == "sdk" and find_spec("anthropic") is None:
            pytest.skip("the SDK is not installed")
        http = Http()
        async with FakeAnthropic() as server:
            yield AnthropicCase(server, http, request.param)
        await http.aclose()
