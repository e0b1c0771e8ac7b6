"""``ProgramCalls`` alone: streams that are left, and what an answer is made of."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.program_calls import ProgramCalls
from pi_hookspecs import MessageEndEvent, RequestFailed


class Lifecycle:
    """Notes aborts and lets the prompt end."""

    def __init__(self):
        self.aborted = asyncio.Event()

    def request_abort(self, reason="Operation aborted"):
        self.aborted.set()


class Turns:
    """Answers a prompt with what ``answer`` says; waits for the abort where it is None."""

    def __init__(self, runtime, lifecycle, answer=None):
        self.runtime, self.lifecycle, self.answer = runtime, lifecycle, answer

    async def prompt(self, prompt, *, images=(), call=None, on_accepted=bool):
        on_accepted("started")
        with self.runtime.gate.prompt(call):
            if self.answer is None:
                await self.runtime.events.emit(MessageEndEvent(message=prompt), None)
                await self.lifecycle.aborted.wait()
        return self.answer


def calls_of(runtime, answer=None):
    lifecycle = Lifecycle()
    calls = ProgramCalls(runtime, Turns(runtime, lifecycle, answer), lifecycle)
    return calls, lifecycle


async def test_the_text_of_an_answer_is_its_output(runtime, answer):
    calls, _ = calls_of(runtime, answer("Hello"))

    assert (await calls.ask("hi", None, (), None)).output == "Hello"


async def test_an_answer_that_failed_is_raised(runtime, answer):
    calls, _ = calls_of(runtime, answer(stop_reason="error", error_message="overloaded"))

    with pytest.raises(RequestFailed, match="overloaded"):
        await calls.ask("hi", None, (), None)


async def test_leaving_a_stream_early_aborts_its_prompt(runtime):
    calls, lifecycle = calls_of(runtime)
    stream = calls.stream("hi", (), None)
    async for event in stream:
        assert event.message == "hi"
        break
    await stream.aclose()

    assert lifecycle.aborted.is_set()
    assert runtime.gate.signal is None


async def test_without_a_stream_there_is_nothing_to_wait_for(runtime):
    calls, lifecycle = calls_of(runtime)
    await calls.wait_for_abandoned_stream()

    assert not lifecycle.aborted.is_set()
