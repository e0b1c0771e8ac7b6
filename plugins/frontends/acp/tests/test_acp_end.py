"""Prompts at once and their end: cancelled, with tools that hang, or with an editor that goes away."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from pi_testing.patience import PATIENCE

pytestmark = pytest.mark.slow  # each starts programs that take seconds


async def new(editor, folder: Path) -> str:
    return (await editor.agent.new_session(cwd=str(folder), mcp_servers=[])).session_id


async def test_two_prompts_at_once_are_answered_in_turn(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)

        answers = await asyncio.gather(*(editor.say(session, each) for each in ("first ", "second ", "third ")))

        assert [each.stop_reason for each in answers] == ["end_turn"] * 3
        assert editor.text(session) == "first second third "


async def test_a_prompt_during_a_run_of_a_plugin_is_a_follow_up(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        await editor.say(session, "/later call hang_on {}")
        await editor.until(lambda: "waiting" in json.dumps(editor.of("tool_call_update")))

        prompt = asyncio.create_task(editor.say(session, "Hello"))
        (work / "go").touch()

        assert (await prompt).stop_reason == "end_turn"
        assert "Hello" in editor.text(session)


async def test_cancel_ends_the_prompt_and_those_that_wait(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        prompts = [asyncio.create_task(editor.say(session, each)) for each in ("stall", "never sent")]
        await editor.until(lambda: "stall" in editor.text(session))

        await editor.agent.cancel(session_id=session)

        assert [(await each).stop_reason for each in prompts] == ["cancelled", "cancelled"]
        assert (await editor.say(session, "Hello")).stop_reason == "end_turn"
        assert "never sent" not in editor.text(session)


async def test_a_cancelled_prompt_says_what_it_used(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        prompt = asyncio.create_task(editor.say(session, 'call bash {"command": "echo waiting; sleep 600"}'))
        await editor.until(lambda: "waiting\\n" in json.dumps(editor.of("tool_call_update")))

        await editor.agent.cancel(session_id=session)

        answer = await prompt
        assert (answer.stop_reason, answer.usage.total_tokens) == ("cancelled", 110)


async def test_a_cancelled_request_is_answered_and_its_prompt_aborted(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        prompt = asyncio.create_task(editor.say(session, "stall"))
        await editor.until(lambda: "stall" in editor.text(session))
        (request,) = (number for number, method in editor.sent.items() if method == "session/prompt")

        await editor.agent._conn.send_notification("$/cancel_request", {"requestId": request})
        await asyncio.wait([prompt])

        assert prompt.exception().code == -32800
        assert (await editor.say(session, "Hello")).stop_reason == "end_turn"


async def test_cancel_ends_a_question_without_an_answer(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        editor.hesitation = 3600
        prompt = asyncio.create_task(editor.say(session, 'call bash {"command": "touch made"}'))
        await editor.until(lambda: editor.asked.get("session/request_permission"))

        await editor.agent.cancel(session_id=session)

        assert (await prompt).stop_reason == "cancelled"
        assert not (work / "made").exists()


async def test_cancel_is_answered_although_a_tool_hangs(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        prompt = asyncio.create_task(editor.say(session, "call hang {}"))
        await editor.until(lambda: "begun" in json.dumps(editor.of("tool_call_update")))

        await editor.agent.cancel(session_id=session)

        assert (await prompt).stop_reason == "cancelled"


@pytest.mark.parametrize("text", ["stall", 'call bash {"command": "sleep 600"}'])
async def test_the_end_of_stdin_ends_everything(run_acp, work, text):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        prompt = asyncio.create_task(editor.say(session, text))
        await editor.until(lambda: editor.of("agent_message_chunk") or len(editor.of("tool_call_update")) > 1)

        code = await editor.ended()

        assert code == 0
        await asyncio.wait([prompt])
        assert prompt.exception() is not None


async def test_no_process_outlives_pi(run_acp, work):
    async with run_acp() as editor:
        await editor.start()
        session = await new(editor, work)
        await editor.agent.set_session_mode(session_id=session, mode_id="auto")
        command = "sleep 1000 & echo $! > one; setsid sleep 1000 & echo $! > two; echo ready; wait"
        prompt = asyncio.create_task(editor.say(session, f"call bash {json.dumps({'command': command})}"))
        await editor.until(
            lambda: "ready" in json.dumps([each.get("content") for each in editor.of("tool_call_update")])
        )
        children = [int((work / name).read_text()) for name in ("one", "two")]

        await editor.ended()

        await asyncio.wait([prompt])
        assert prompt.exception() is not None
        end = time.monotonic() + PATIENCE
        while any(map(_is_running, children)) and time.monotonic() < end:  # noqa: ASYNC110 - no event reports it
            await asyncio.sleep(0.05)
        assert [each for each in children if _is_running(each)] == []


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return not Path(f"/proc/{pid}/stat").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):  # it may end at any time
        return False
