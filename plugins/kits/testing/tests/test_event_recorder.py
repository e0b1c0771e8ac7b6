"""How recorded events are printed and compared."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import Agent
from pi_testing import EventRecorder, make_tool, text, thinking, tool_call

TEXT_TURN = "agent_start, turn_start, ms(user), me(user), ms(assistant), mu, me(assistant), turn_end, agent_end"


async def test_outline_is_in_the_contracts_notation(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(thinking("Hm."), text("Hello", chunks=3))
    await pi_agent.prompt("Hi")

    assert recorder.outline() == TEXT_TURN.split(", ")


async def test_updates_can_be_emitted_one_by_one(pi_agent, script):
    recorder = EventRecorder(collapse=False)
    pi_agent.subscribe(recorder)
    script.turn(text("Hello"))
    await pi_agent.prompt("Hi")

    assert recorder.outline()[5:8] == ["mu(text_start)", "mu(text_delta)", "mu(text_end)"]
    assert recorder.types.count("message_update") == 3


@pytest.mark.pi(tools=[make_tool(updates=["half"], mode="sequential")])
async def test_the_outline_names_the_tools(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(tool_call("echo")).turn(text("Done."))
    await pi_agent.prompt("Hi")

    assert [short for short in recorder.outline() if short.startswith("te")] == ["tes(echo)", "teu", "tee(echo)"]
    assert recorder.of("tool_execution_update")[0].partial_result.content[0].text == "half"


async def test_text_and_types_and_events_by_type(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(text("Hello", chunks=2))
    await pi_agent.prompt("Hi")

    assert recorder.text == "Hello"
    assert recorder.types[:3] == ["agent_start", "turn_start", "message_start"]
    assert recorder.of("turn_end")[0].message.text == "Hello"
    assert [event.delta for event in recorder.of("text_delta")] == ["He", "llo"]
    assert recorder.of("compaction_start") == []


async def test_difference_is_shown_line_by_line(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(text("Hello"))
    await pi_agent.prompt("Hi")

    with pytest.raises(AssertionError) as raised:
        recorder.assert_outline("agent_start, turn_start", "me(user)", TEXT_TURN.partition("me(user), ")[2])

    assert "\n  turn_start\n+ ms(user)\n  me(user)\n" in str(raised.value)


async def test_same_outline_has_no_difference(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(text("Hello"))
    await pi_agent.prompt("Hi")

    assert recorder.diff(TEXT_TURN) == ""
    recorder.assert_outline(*TEXT_TURN.split(", "))


async def test_repr_shows_both_ends_of_a_long_row(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(text("a")).turn(text("b"))
    await pi_agent.prompt("Hi")
    await pi_agent.prompt("Hi")

    assert repr(recorder).startswith("<EventRecorder: agent_start, turn_start,")
    assert "6 more" in repr(recorder)
    assert repr(EventRecorder()) == "<EventRecorder: nothing came>"


async def test_wait_for_returns_the_event_when_it_comes(script, recorder):
    agent = Agent(stream=script.stream, model=script.model, tools=[make_tool(delay=float("inf"))])
    agent.subscribe(recorder)
    script.turn(tool_call("echo"), tool_call("echo"))
    running = asyncio.create_task(agent.prompt("Hi"))
    event = await recorder.wait_for("tool_execution_start", 2)
    agent.abort()
    await running

    assert event.tool_call_id == "call_2"


async def test_wait_for_fails_when_nothing_comes(recorder, monkeypatch):
    monkeypatch.setattr("pi_testing.patience.PATIENCE", 0.01)

    with pytest.raises(AssertionError, match=r"waited 0\.01 s for turn_end number 1; so far:"):
        await recorder.wait_for("turn_end")


async def test_recorder_forgets(pi_agent, script, recorder):
    pi_agent.subscribe(recorder)
    script.turn(text("a"))
    await pi_agent.prompt("Hi")
    recorder.clear()

    assert recorder.events == []
