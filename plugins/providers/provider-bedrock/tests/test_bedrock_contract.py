"""The contract that holds for every provider, with a bearer token and with a signature."""

from __future__ import annotations

from struct import unpack_from
from urllib.parse import unquote

import pytest

from pi_core import wire
from pi_hookspecs import Model, ModelCost
from pi_provider_bedrock.provider import BedrockConverse
from pi_provider_kit import Http
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers.bedrock import (
    FakeBedrock,
    event,
    exception,
    message_events,
    stream,
    text,
    thinking,
    tool_use,
)
from pi_testing.provider_contract import Calls, Says, StreamEventsContract, listen

SECRET = "contract/secret+0123456789"
SESSION_TOKEN = "contract-session-token-0123456789"


class BedrockCase(ServerCase):
    ping = event("ping", {})

    def __init__(self, server, http, *, signed):
        self.server = server
        self.provider = BedrockConverse(http)
        self.signed = signed
        if signed:
            self.api_key = SESSION_TOKEN  # the secret that goes over the wire
        self.model = Model(
            id="us.anthropic.claude-fake-4-5:0",
            name="Fake",
            api="bedrock-converse-stream",
            provider="amazon-bedrock",
            base_url=server.url,
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=3, output=15, cache_read=0.3, cache_write=3.75),
            context_window=200_000,
            max_tokens=8192,
        )

    def options(self, **fields):
        return super().options(**({"api_key": "<authenticated>"} if self.signed else {}), **fields)

    def sent(self):
        request = self.server.request
        return {"modelId": unquote(request.path.split("/")[2]), **request.json}

    def events(self, blocks, usage=None, *, length=False):
        counted = {}
        if usage is not None:
            counted = {"inputTokens": usage.input, "outputTokens": usage.output}
            counted["cacheReadInputTokens"] = usage.cache_read
        return message_events(*map(on_the_wire, blocks), stop="max_tokens" if length else None, usage=counted)

    def written(self, blocks, *, usage=None, length=False):
        return stream(self.events(blocks, usage, length=length))

    def written_without_end(self, blocks):
        return stream(self.events(blocks)[:-2])

    def written_error(self, message):
        return exception("serviceUnavailableException", message)

    def _behind(self, delta):
        body = self.recorded(Says((delta, " and more"))).body
        at, place = 0, body.index(delta.encode())
        while at <= place:
            at += unpack_from(">I", body, at)[0]
        return at


def on_the_wire(block):
    if isinstance(block, Says):
        return text(*block.deltas)
    if isinstance(block, Calls):
        return tool_use(block.id, block.name, deltas=[block.raw] if block.raw else None, **block.arguments)
    return thinking(*block.deltas, signature=block.signature)


class TestBedrock(StreamEventsContract, ProviderContract):
    @pytest.fixture(params=["bearer", "signed"])
    async def case(self, request, monkeypatch):
        signed = request.param == "signed"
        if signed:
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAFAKE000000000000")
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
            monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)
        http = Http()
        async with FakeBedrock(secret=SECRET) as server:
            yield BedrockCase(server, http, signed=signed)
        await http.aclose()

    async def test_halves_of_a_character_in_two_deltas_meet(self, case):
        """The suite's own puts them into the bytes, which breaks a frame's checksum."""
        case.text("so \ud83d", "\ude00.")
        reply = await listen(case)

        assert "so \N{GRINNING FACE}.".encode() in wire.dumps(reply.done)
