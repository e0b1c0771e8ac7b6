"""``/agents`` on the screen: the list, what can be done from it, and the view of one agent."""

from __future__ import annotations

import asyncio

import pytest

import pi_agents
from pi_agents.view import AgentView
from pi_hookspecs import AssistantMessage, TextContent
from pi_testing import stall, text, tool_call
from pi_testing.fake_screen import RecordingScreen

pytestmark = pytest.mark.pi(
    plugins={"agents": pi_agents}, tools=["task"], screen=True, settings={"agents": {"enabled": True}}
)


def notices(ui):
    return [each.message for each in ui.notices]


async def started(session, script):
    """Start an agent that hangs; return the running prompt and the agent's id."""
    script.turn(tool_call("task", prompt="Look around", description="Looking")).turn(text("Thinking"), stall())
    script.turn(text("Done."))
    prompt = asyncio.create_task(session.prompt("begin"))
    await script.stalled()
    await session.prompt("/agents list")
    return prompt, session.ui.notices.pop().message.split()[0]


async def test_without_agents_the_list_says_so(pi_session, fake_ui):
    await pi_session.prompt("/agents")

    assert notices(fake_ui) == ["No agent has worked in this conversation yet."]


async def test_entries_of_another_version_are_listed_with_what_they_have(pi_session, fake_ui):
    whole = {"id": "0a1b2c3d", "agent": "general", "status": "done", "turns": 2, "dollars": 0.5, "description": "Look"}
    for data in (
        *(None, [], "text", {}, {"id": []}, {"id": None, "turns": 1}),
        {"id": "later", "turns": "two", "dollars": 10**400, "agent": {}, "description": "in\ntwo lines"},
        {name: value for name, value in whole.items() if name != "dollars"},
    ):
        pi_session.append_entry("agent", data)
    await pi_session.prompt("/agents list")

    assert notices(fake_ui)[0].splitlines() == [
        "0a1b2c3d  general  done  2 turns  $0.0000  Look",
        "later     -        -     0 turns  $0.0000  in two lines",
    ]


@pytest.mark.pi(settings={})
async def test_a_session_without_agents_says_how_to_get_them(pi_session, fake_ui):
    await pi_session.prompt("/agents")

    assert notices(fake_ui)[0].startswith("There are no agents here. pi agents new NAME creates one;")


async def test_a_running_agent_is_chosen_and_stopped(pi_session, script, fake_ui):
    prompt, member_id = await started(pi_session, script)
    line = f"{member_id}  general  running  0 turns  $0.0000  Looking"
    fake_ui.answers(line, "Stop it")
    await pi_session.prompt("/agents")
    await prompt

    assert [dialog.options for dialog in fake_ui.asked] == [(line,), ("Look at it", "Stop it")]
    assert notices(fake_ui)[-1].startswith(f"Stopped. [agent {member_id}, ")


async def test_the_view_shows_what_an_agent_does_and_stops_it(pi_session, script, fake_ui):
    prompt, member_id = await started(pi_session, script)
    fake_ui.leaves_open()
    viewing = asyncio.create_task(pi_session.prompt(f"/agents open {member_id}"))
    screen = await fake_ui.opened_custom()
    before = screen.rows
    screen.press("s")
    await prompt
    after = screen.rows
    screen.press("escape")
    await viewing

    assert before[0].startswith(f"{member_id}  general  running")
    assert before[1] == "> Look around"
    assert before[-1] == "↑↓ scroll · s stop · escape close"
    assert after[0].startswith(f"{member_id}  general  stopped")
    assert after[-1] == "↑↓ scroll · escape close"
    assert screen.is_done


async def test_the_view_shows_an_answer_while_it_is_received(pi_session, script, fake_ui):
    asked, answers = asyncio.Event(), asyncio.Event()

    async def turn(_request):
        asked.set()
        await answers.wait()
        return text("The tide is"), stall()

    script.turn(tool_call("task", prompt="Look around")).turn(turn).turn(text("Done."))
    prompt = asyncio.create_task(pi_session.prompt("begin"))
    await asked.wait()
    await pi_session.prompt("/agents list")
    member_id = pi_session.ui.notices.pop().message.split()[0]
    fake_ui.leaves_open()
    viewing = asyncio.create_task(pi_session.prompt(f"/agents open {member_id}"))
    screen = await fake_ui.opened_custom()
    before = screen.rows
    answers.set()
    await script.stalled()
    during = screen.rows
    screen.press("s")
    await prompt
    screen.press("escape")
    await viewing

    assert "The tide is" not in before
    assert during[1:3] == ("> Look around", "The tide is")


@pytest.mark.pi(screen=False, stored=True, entry_points=["session-jsonl"])
async def test_an_agent_that_has_ended_is_read_from_its_session(pi_session, script, fake_ui):
    script.turn(tool_call("task", prompt="Look around")).turn(text("I see.\nNothing.")).turn(text("Done."))
    await pi_session.prompt("begin")
    await pi_session.prompt("/agents list")
    summary = notices(fake_ui)[-1]
    await pi_session.prompt(f"/agents open {summary.split()[0]}")

    assert notices(fake_ui)[-1] == f"{summary}\n> Look around\nI see.\nNothing."


def test_the_view_scrolls_and_follows_the_end():
    answer = "\n".join(f"line {number}" for number in range(50))
    messages = [AssistantMessage(content=(TextContent(answer),), api="a", provider="p", model="m")]
    screen = RecordingScreen(
        lambda screen: AgentView(screen, lambda: "title", lambda: messages, lambda: None), height=14
    )
    follows = screen.rows
    screen.press("up")
    above = screen.rows
    for _ in range(20):
        screen.press("pageup")
    top = screen.rows
    screen.press("down")

    assert (follows[0], follows[1], follows[6]) == ("title", "line 44", "line 49")
    assert above[6] == "line 48"
    assert top[1] == "line 0"
    assert screen.rows[1] == "line 1"


def test_wide_letters_are_broken_into_rows_that_fit():
    messages = [AssistantMessage(content=(TextContent("潮汐 潮汐潮汐 tide"),), api="a", provider="p", model="m")]
    screen = RecordingScreen(lambda screen: AgentView(screen, lambda: "t", lambda: messages, lambda: None), width=9)

    assert screen.rows[1:4] == ("潮汐 ", "潮汐潮汐 ", "tide")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("/agents stop", "/agents stop needs the id of one agent"),
        ("/agents list all", "/agents list takes nothing more"),
        ("/agents sop 1", "Unknown word after /agents: sop. Did you mean stop?"),
        ("/agents xyz", "Unknown word after /agents: xyz. Use one of list, open, stop, worktrees, apply, drop, undo."),
        ("/agents open 1234", "Unknown agent id: 1234"),
    ],
)
async def test_wrong_words_are_explained(pi_session, recorder, typed, message):
    pi_session.subscribe(recorder, "extension_error")
    await pi_session.prompt(typed)

    assert message in recorder.events[0].error


async def test_words_and_ids_are_completed(pi_session, script):
    prompt, member_id = await started(pi_session, script)
    words = await pi_session.completions.arguments("agents", "s")
    ids = await pi_session.completions.arguments("agents", "stop ")
    await pi_session.abort()
    await prompt

    assert [each.value for each in words] == ["stop"]
    assert [each.value for each in ids] == [f"stop {member_id}"]
