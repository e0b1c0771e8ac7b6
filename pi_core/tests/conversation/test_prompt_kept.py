"""What the user wrote is part of the conversation and is stored, also where a plugin ends the run before an answer."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import SessionManager
from pi_hookspecs import hookimpl
from pi_testing import text


def cancelling(hook):
    """Return a plugin that cancels the task in which its hook is called, once."""
    called = []

    async def cancel(event):
        if not called:
            called.append(event)
            asyncio.current_task().cancel()
            await asyncio.sleep(0)

    return type("Cancelling", (), {hook: staticmethod(hookimpl(cancel))})()


@pytest.mark.parametrize(
    ("hook", "kept"),
    [
        ("input", ["user"]),
        ("before_agent_start", ["user"]),
        ("turn_start", ["user", "assistant"]),
        ("message_start", ["user", "assistant"]),
    ],
)
async def test_a_prompt_whose_run_was_cancelled_stays_in_the_conversation(session_of, script, hook, kept):
    session = session_of(cancelling(hook))

    with pytest.raises(asyncio.CancelledError):
        await session.prompt("a long question")
    asyncio.current_task().uncancel()

    assert [each.role for each in session.messages] == kept
    assert session.messages[0].text == "a long question"
    assert session.hooks.last_hook == f"{hook} of plugin 'plugin-0'"
    script.turn(text("Hello"))
    assert (await session.prompt("once more")).text == "Hello"
    assert [each.role for each in session.messages] == [*kept, "user", "assistant"]


@pytest.mark.parametrize("hook", ["input", "before_agent_start"])
async def test_a_prompt_that_ends_before_its_run_is_in_the_session_file(session_of, tmp_path, installed_host, hook):
    session = session_of(cancelling(hook), session_manager=SessionManager.create(tmp_path, host=installed_host))

    with pytest.raises(asyncio.CancelledError):
        await session.prompt("a long question")
    asyncio.current_task().uncancel()

    assert "a long question" in session.session_file.read_text()


async def test_a_command_that_was_cancelled_is_no_prompt(session_of):
    async def cancel(arguments, ctx):
        asyncio.current_task().cancel()
        await asyncio.sleep(0)

    class Commands:
        @hookimpl
        def activate(self, pi):
            pi.register_command("stop", cancel)

    session = session_of(Commands())

    with pytest.raises(asyncio.CancelledError):
        await session.prompt("/stop")
    asyncio.current_task().uncancel()

    assert session.messages == []
