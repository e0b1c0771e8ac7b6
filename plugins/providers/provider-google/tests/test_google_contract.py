"""The contract that holds for every provider: the Gemini API and Vertex AI over both transports, Cloud Code Assist."""

from __future__ import annotations

from importlib.util import find_spec

import orjson
import pytest

from pi_hookspecs import Model, ModelCost
from pi_provider_google.providers import CodeAssist, GenerativeAI, Vertex
from pi_provider_kit import Http
from pi_testing import ProviderContract, ServerCase
from pi_testing.fake_servers import sse_event
from pi_testing.fake_servers.google import FakeGoogle, answer, call, error_event, text, thought, wrapped
from pi_testing.provider_contract import EVERYTHING, Calls, Says, StreamEventsContract


class GoogleCase(ServerCase):
    supports = EVERYTHING - {"broken_arguments"}  # a call comes whole, as JSON within JSON
    ping = b"\n"  # the vendor's client takes a comment for broken JSON

    def __init__(self, server, provider, transport=None):
        self.server = server
        self.provider = provider
        self.transport = transport
        self.model = Model(
            id="gemini-3-fake",
            name="Fake",
            api=provider.api,
            provider="google",
            base_url=server.base_url if provider.api == "google-generative-ai" else server.url,
            reasoning=True,
            input=("text", "image"),
            cost=ModelCost(input=2, output=8, cache_read=0.5),
            context_window=200_000,
            max_tokens=8192,
        )

    def sent(self):
        return {"path": self.server.request.path, **super().sent()}

    def written(self, blocks, *, usage=None, length=False):
        fields = {"finish": "MAX_TOKENS"} if length else {}
        if usage is not None:
            read = usage.input + usage.cache_read
            fields["usage"] = {
                "promptTokenCount": read,
                "cachedContentTokenCount": usage.cache_read,
                "candidatesTokenCount": usage.output - 5,
                "thoughtsTokenCount": 5,
                "totalTokenCount": read + usage.output,
            }
        return answer(*map(on_the_wire, blocks), **fields)

    def written_without_end(self, blocks):
        return answer(*map(on_the_wire, blocks), finish=None)

    def written_error(self, message):
        return sse_event(error_event(503, message))


class CodeAssistCase(GoogleCase):
    api_key = '{"token":"ya29.contract-0123456789","projectId":"proj-1"}'

    def written(self, blocks, *, usage=None, length=False):
        return wrapped(super().written(blocks, usage=usage, length=length))

    def written_without_end(self, blocks):
        return wrapped(super().written_without_end(blocks))


def on_the_wire(block):
    if isinstance(block, Says):
        return text(*block.deltas)
    if isinstance(block, Calls):
        return call(block.name, call_id=block.id, **(orjson.loads(block.raw) if block.raw else block.arguments))
    return thought(*block.deltas, signature=block.signature)


class GoogleContract(StreamEventsContract, ProviderContract):
    @pytest.fixture(params=["http", pytest.param("sdk", marks=pytest.mark.slow)])
    async def case(self, request):
        if request.param == "sdk" and find_spec("google.genai") is None:
            pytest.skip("the SDK is not installed")
        http = Http()
        async with FakeGoogle() as server:
            yield self.made(server, http, request.param)
        await http.aclose()


class TestGenerativeAI(GoogleContract):
    def made(self, server, http, transport):
        return GoogleCase(server, GenerativeAI(http), transport)


@pytest.mark.slow  # the same as the class before, over another address
class TestVertex(GoogleContract):
    def made(self, server, http, transport):
        return GoogleCase(server, Vertex(http), transport)


class TestCodeAssist(StreamEventsContract, ProviderContract):
    @pytest.fixture
    async def case(self):
        http = Http()
        async with FakeGoogle() as server:
            yield CodeAssistCase(server, CodeAssist(http))
        await http.aclose()
