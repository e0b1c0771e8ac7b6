"""What the commands say reaches the model as the user's words, when it is meant to."""

from __future__ import annotations

import asyncio

from pi_hookspecs import UserMessage
from pi_testing import text, tool_call


def user_texts(request):
    return [message.text for message in request.messages if isinstance(message, UserMessage)]


async def test_ask_begins_a_turn(pi_session, script, recorder):
    script.turn(text("Fine."))
    pi_session.subscribe(recorder)

    await pi_session.prompt("/ask How are you?")
    await recorder.wait_for("agent_settled")

    assert user_texts(script.requests[0]) == ["How are you?"]


async def test_nudge_comes_before_the_next_request_and_then_after_the_answer(pi_session, script, fake_tools, fake_ui):
    async def send_more(request):
        await asyncio.gather(*(pi_session.prompt(f"/{text}") for text in ("nudge hurry", "then rest", "ask no")))
        return tool_call("bash", command="ls")

    script.turn(send_more).turn(text("Done.")).turn(text("Resting."))

    await pi_session.prompt("work")

    assert [user_texts(request) for request in script.requests] == [
        ["work"],
        ["work", "hurry"],
        ["work", "hurry", "rest"],
    ]
    assert fake_ui.notices[0].message.startswith("An answer is in progress.")
