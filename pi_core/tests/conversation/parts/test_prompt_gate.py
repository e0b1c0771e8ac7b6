"""``PromptGate`` alone: which prompt is inside, and who waits for it."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.prompt_gate import PromptGate


@pytest.fixture
def aborted():
    return []


@pytest.fixture
def gate(aborted):
    return PromptGate(lambda signal: aborted.append(signal.reason))


async def test_the_prompts_own_task_does_not_wait_for_it(gate):
    with gate.prompt():
        await gate.empty()

        assert gate.is_inside_prompt()


async def test_another_task_waits_until_the_prompt_has_left(gate):
    with gate.prompt():
        waiting = asyncio.ensure_future(gate.empty())
        await asyncio.sleep(0)
        during = waiting.done()
    await waiting

    assert during is False


async def test_an_abort_reaches_the_callback_once_and_no_later_prompt(gate, aborted):
    with gate.prompt() as first:
        gate.abort("stop")
        gate.abort("again")
    with gate.prompt() as second:
        pass

    assert (first.aborted, second.aborted, aborted) == (True, False, ["stop"])


async def test_a_prompt_that_a_listener_begins_while_the_first_settles_stays_inside(gate):
    async def listener(go_on):
        with gate.prompt():
            await go_on.wait()

    go_on = asyncio.Event()
    with gate.prompt():
        gate.free()
        begun = asyncio.ensure_future(listener(go_on))
        await asyncio.sleep(0)
    during = gate.signal is not None
    go_on.set()
    await begun

    assert (during, gate.signal) == (True, None)
