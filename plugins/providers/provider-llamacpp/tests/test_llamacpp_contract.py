"""The contract that holds for every provider, with an engine that says what the tests have written down."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import Model, ModelCost
from pi_provider_kit import compact_json
from pi_provider_llamacpp.provider import LlamaCpp
from pi_testing import ProviderCase, ProviderContract
from pi_testing.patience import PATIENCE
from pi_testing.provider_contract import EVERYTHING, Calls, Says

pytestmark = pytest.mark.slow  # each row starts a process


class ScriptedCase(ProviderCase):
    supports = EVERYTHING - {"images", "http", "failure_details", "bytes", "timeouts", "progress"}
    api_key = None

    def __init__(self, script, loaded, path):
        self.script = script
        self.provider = LlamaCpp(loaded)
        self.model = Model(
            id="tiny",
            name="Tiny",
            api="llamacpp-embedded",
            provider="llamacpp",
            reasoning=True,
            cost=ModelCost(input=2, output=6, cache_read=0.2),
            context_window=200_000,
            compat={"path": str(path)},
        )
        self._waiting = set()
        self.script.queue = []

    def answers(self, *blocks, usage=None, length=False):
        has_calls = any(isinstance(block, Calls) for block in blocks)
        reason = "length" if length else "tool_calls" if has_calls else "stop"
        chunks = [chunk for block in blocks for chunk in written(block)]
        chunks.append({"choices": [{"delta": {}, "finish_reason": reason}]})
        if usage is not None:
            prompt, details = usage.input + usage.cache_read, {"cached_tokens": usage.cache_read}
            counted = {"prompt_tokens": prompt, "completion_tokens": usage.output, "prompt_tokens_details": details}
            chunks.append({"choices": [], "usage": counted})
        self._next(*chunks)

    def stalls(self, delta):
        self._next(*written(Says((delta,))), then="stall")

    def waits(self):
        self._next(then="stall")
        asked = asyncio.Event()

        async def watch():
            while not self.script.asked:  # noqa: ASYNC110 - as in left
                await asyncio.sleep(0.01)
            asked.set()

        self._waiting.add(asyncio.create_task(watch()))
        return asked

    async def left(self):
        async with asyncio.timeout(PATIENCE):
            while not self.script.cancelled:  # noqa: ASYNC110 - another process writes it down
                await asyncio.sleep(0.01)

    def sent(self):
        return self.script.asked[-1]

    def _next(self, *chunks, then="end"):
        self.script.also(*chunks, then=then)


def written(block):
    if isinstance(block, Says):
        deltas = [{"content": text} for text in block.deltas]
    elif isinstance(block, Calls):
        arguments = compact_json(block.arguments) if block.raw is None else block.raw
        deltas = [{"tool_calls": [{"function": each}]} for each in ({"name": block.name}, {"arguments": arguments})]
    else:
        deltas = [{"reasoning_content": text} for text in block.deltas]
    return [{"choices": [{"delta": delta}]} for delta in deltas]


class TestLlamaCppContract(ProviderContract):
    @pytest.fixture
    def case(self, script, loaded, gguf):
        return ScriptedCase(script, loaded, gguf())
