"""A new session begins with what matters of the old one."""

from __future__ import annotations

import pytest

from pi_testing import error, text


@pytest.fixture
async def conversation(pi_session, script):
    script.turn(text("The parser is in parse.py."))
    await pi_session.prompt("Where is the parser?")


async def test_the_new_session_begins_with_the_edited_message(pi_session, script, conversation, fake_ui):
    old = pi_session.session_id
    script.turn(text("The parser is parse.py. Write tests.")).turn(text("Here they are."))
    fake_ui.answers("The parser is parse.py. Write three tests.")

    await pi_session.prompt("/handoff write the tests")

    assert "[assistant] The parser is in parse.py." in script.requests[1].user_text
    assert script.requests[1].user_text.endswith("The goal: write the tests")
    assert fake_ui.asked[0].text == "The parser is parse.py. Write tests."
    assert [message.text for message in script.requests[2].messages] == ["The parser is parse.py. Write three tests."]
    assert pi_session.session_id != old
    assert pi_session.session_manager.name == "write the tests"


async def test_a_dismissed_editor_leaves_the_session(pi_session, script, conversation, fake_ui):
    old = pi_session.session_id
    script.turn(text("Write tests."))
    fake_ui.answers(None)

    await pi_session.prompt("/handoff write the tests")

    assert pi_session.session_id == old
    assert len(fake_ui.asked) == 1


async def test_a_failure_is_reported(pi_session, script, conversation, fake_ui):
    script.turn(error("overloaded"))

    await pi_session.prompt("/handoff write the tests")

    assert "overloaded" in fake_ui.notices[0].message
