"""The summary is for the user: the conversation stays as it is."""

from __future__ import annotations

from pi_testing import error, text, tool_call


async def test_the_user_sees_a_summary_of_the_conversation(pi_session, script, fake_ui, fake_tools):
    script.turn(text("Let me look."), tool_call("read", path="a")).turn(text("Fixed.")).turn(text("One bug.\nGone."))

    await pi_session.prompt("fix it")
    await pi_session.prompt("/summarize in two lines")

    asked = script.requests[-1]
    assert asked.user_text == "user: fix it\n\nassistant: Let me look.\n\nassistant: Fixed."
    assert asked.system_prompt.endswith("in two lines")
    assert fake_ui.widgets["summarize"] == ("One bug.", "Gone.")
    assert fake_ui.statuses == {}
    assert len(pi_session.messages) == 4


async def test_the_user_learns_why_there_is_none(pi_session, script, fake_ui):
    script.turn(text("Hello.")).turn(error("overloaded"))

    for prompt in ("/summarize", "hi", "/summarize"):
        await pi_session.prompt(prompt)

    assert [notice.message for notice in fake_ui.notices] == [
        "There is nothing to sum up.",
        "Not summed up: overloaded",
    ]
