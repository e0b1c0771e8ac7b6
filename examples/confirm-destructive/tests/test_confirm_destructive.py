"""Leaving a conversation, or changing to another, asks the user."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.fixture
async def prompted(pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")
    return pi_session.get_user_messages_for_forking()[0][0]


async def test_no_keeps_the_conversation(pi_session, prompted, fake_ui):
    fake_ui.answers(False)

    assert not await pi_session.new_session()

    assert fake_ui.asked[0].title == "Start a new session?"
    assert len(pi_session.messages) == 2


async def test_yes_lets_it_go(pi_session, prompted, fake_ui):
    fake_ui.answers(True)

    assert await pi_session.new_session()

    assert len(fake_ui.asked) == 1
    assert len(pi_session.messages) == 0


async def test_an_empty_conversation_is_left_unasked(pi_session, fake_ui):
    assert await pi_session.new_session()

    assert fake_ui.asked == []


@pytest.mark.parametrize("answer", [True, False], ids=["yes", "no"])
async def test_a_fork_is_asked_about(pi_session, prompted, fake_ui, answer):
    fake_ui.answers(answer)

    outcome = await pi_session.fork(prompted)

    assert fake_ui.asked[0].title == "Fork?"
    assert outcome.cancelled is not answer
