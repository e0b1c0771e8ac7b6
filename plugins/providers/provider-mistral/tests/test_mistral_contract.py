"""The contract that holds for every provider."""

from __future__ import annotations

import pytest

from pi_hookspecs import Model, ModelCost
from pi_provider_kit import Http
from pi_provider_mistral.provider import MistralConversations
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers import sse_event
from pi_testing.fake_servers.mistral import (
    FakeMistral,
    call,
    chunks,
    completion,
    completion_events,
    error_body,
    text,
    thinking,
)
from pi_testing.provider_contract import Calls, Says, StreamEventsContract


class MistralCase(ServerCase):
    def __init__(self, server, http):
        self.server = server
        self.provider = MistralConversations(http)
        self.model = Model(
            id="mistral-fake",
            name="Fake",
            api="mistral-conversations",
            provider="mistral",
            base_url=server.url,
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=2, output=6, cache_read=0.2),
            context_window=200_000,
            max_tokens=8192,
        )

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
        return sse_event(error_body(503, message))


def on_the_wire(block):
    if isinstance(block, Says):
        return text(*block.deltas)
    if isinstance(block, Calls):
        return call(block.id, block.name, deltas=[block.raw] if block.raw else None, **block.arguments)
    return thinking(*block.deltas, signature=block.signature)


class TestMistral(StreamEventsContract, ProviderContract):
    @pytest.fixture
    async def case(self):
        http = Http()
        async with FakeMistral() as server:
            yield MistralCase(server, http)
        await http.aclose()
