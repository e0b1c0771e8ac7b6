"""The model asks, the user answers."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

ASK = tool_call("question", question="Which colour?", options=["red", "blue"])


async def test_choice_reaches_the_model(pi_session, script, fake_ui):
    script.turn(ASK).turn(text("Blue it is."))
    fake_ui.answers("blue")

    await pi_session.prompt("paint it")

    (result,) = script.requests[1].tool_results
    assert result.text == "The user said: blue"
    assert result.details == {"question": "Which colour?", "options": ["red", "blue"], "answer": "blue"}


async def test_the_user_may_answer_something_else_or_nothing(pi_session, script, fake_ui):
    script.turn(ASK).turn(ASK).turn(text("Well."))
    fake_ui.answers("Something else ...", "mauve", None)

    await pi_session.prompt("paint it")

    assert [request.tool_results[0].text for request in script.requests[1:]] == [
        "The user said: mauve",
        "The user did not answer.",
    ]


@pytest.mark.pi(session={"ui": None})
async def test_the_model_decides_alone_without_a_user(pi_session, script):
    script.turn(ASK).turn(text("Red, then."))

    await pi_session.prompt("paint it")

    assert "No user is available to answer" in script.requests[1].tool_results[0].text
