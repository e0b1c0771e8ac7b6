"""Questions of an answer become a form where the user writes."""

from __future__ import annotations

from pi_testing import error, text

ANSWER = "I can do it. Which database? And shall I write tests?"


async def test_questions_are_put_where_the_user_writes(pi_session, script, fake_ui):
    script.turn(text(ANSWER)).turn(text("Q: Which database?\nQ: Shall I write tests?\nThat is all."))

    await pi_session.prompt("build it")
    await pi_session.prompt("/qna")

    assert script.requests[1].user_text == ANSWER
    assert fake_ui.editor_text == "Q: Which database?\nA: \n\nQ: Shall I write tests?\nA: "
    assert fake_ui.statuses == {}
    assert [message.role for message in pi_session.messages] == ["user", "assistant"]


async def test_the_user_learns_that_there_is_nothing_to_ask(pi_session, script, fake_ui):
    script.turn(text("Done.")).turn(text("No questions.")).turn(error("overloaded"))

    for prompt in ("/qna", "build it", "/qna", "/qna"):
        await pi_session.prompt(prompt)

    assert [notice.message for notice in fake_ui.notices] == [
        "Nothing was answered yet.",
        "It asked nothing.",
        "The questions could not be looked for: overloaded",
    ]
