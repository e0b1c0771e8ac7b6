"""Several questions, one result."""

from __future__ import annotations

from pi_testing import text, tool_call

QUESTIONS = [
    {"id": "colour", "prompt": "Which colour?", "options": ["red", "blue"]},
    {"id": "name", "prompt": "What is it called?"},
]


async def test_all_answers_reach_the_model(pi_session, script, fake_ui):
    script.turn(tool_call("questionnaire", questions=QUESTIONS)).turn(text("Thanks."))
    fake_ui.answers("red", "Rosie")

    await pi_session.prompt("paint it")

    (result,) = script.requests[1].tool_results
    assert result.text == "colour: red\nname: Rosie"
    assert [(dialog.kind, dialog.title) for dialog in fake_ui.asked] == [
        ("select", "1/2 Which colour?"),
        ("input", "2/2 What is it called?"),
    ]


async def test_answers_so_far_are_kept_when_the_user_stops(pi_session, script, fake_ui):
    script.turn(tool_call("questionnaire", questions=QUESTIONS)).turn(text("Another time."))
    fake_ui.answers("red", None)

    await pi_session.prompt("paint it")

    (result,) = script.requests[1].tool_results
    assert result.text == "The user stopped answering."
    assert result.details == {"answers": {"colour": "red"}, "cancelled": True}


async def test_questions_without_an_id_are_refused(pi_session, script):
    script.turn(tool_call("questionnaire", questions=[{"prompt": "Which colour?"}])).turn(text("Again."))

    await pi_session.prompt("paint it")

    assert "must have required properties id" in script.requests[1].tool_results[0].text
