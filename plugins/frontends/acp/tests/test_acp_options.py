"""Options of the command line are those of all sessions of an editor, before the word and after it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.slow

OPTIONS = ("--model", "fake/other", "--thinking", "low", "--tools", "read,trace")


def selected(session):
    return {each.id: each.current_value for each in session.config_options}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), OPTIONS),
        (OPTIONS, ()),
        (("--sandbox", "off", *OPTIONS), ()),
        (("--model", "fake/other"), ("--sandbox=off", "--thinking=low", "-t", "read,trace")),
    ],
    ids=["after", "before", "with a plugin's", "both"],
)
async def test_options_apply_to_new_sessions_wherever_they_are_written(run_acp, work, before, after):
    async with run_acp(*before, after=after) as editor:
        await editor.start()

        session = await editor.agent.new_session(cwd=str(work), mcp_servers=[])
        await editor.say(session.session_id, "call trace {}")
        await editor.say(session.session_id, 'call bash {"command": "echo ran"}')

        chosen = selected(session)
        assert (chosen["model"], chosen["thought_level"]) == ("fake/other", "low")
        states = [
            each["status"] for each in editor.of("tool_call_update") if each.get("status") in ("completed", "failed")
        ]
        assert states == ["completed", "failed"]


async def test_a_stored_session_keeps_its_own_model(run_acp, work):
    async with run_acp(after=("--model", "fake/echo")) as editor:
        await editor.start()
        session = (await editor.agent.new_session(cwd=str(work), mcp_servers=[])).session_id
        await editor.say(session, "Hello")
    async with run_acp(after=("--model", "fake/other")) as editor:
        await editor.start()

        loaded = await editor.agent.load_session(cwd=str(work), session_id=session, mcp_servers=[])

        assert selected(loaded)["model"] == "fake/echo"
