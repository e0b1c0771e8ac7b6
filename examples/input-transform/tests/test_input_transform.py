"""What the user said is changed, or dealt with."""

from __future__ import annotations

from datetime import datetime

import pytest

from pi_testing import text


async def test_a_quick_question_asks_for_one_sentence(pi_session, script):
    script.turn(text("Scattering."))

    await pi_session.prompt("?quick why is the sky blue")

    assert script.requests[0].user_text == "Answer in one sentence: why is the sky blue"


async def test_ping_is_answered_without_a_model(pi_session, script, fake_ui):
    assert await pi_session.prompt("ping") is None

    assert fake_ui.notices[0].message == "pong"
    assert script.requests == []


async def test_the_time_is_displayed(pi_session, fake_ui):
    await pi_session.prompt("time")

    assert datetime.fromisoformat(fake_ui.notices[0].message).tzinfo is not None


@pytest.mark.parametrize(("message", "source"), [("hello", "interactive"), ("ping", "extension")])
async def test_all_else_goes_on_unchanged(pi_session, script, message, source):
    script.turn(text("Fine."))

    await pi_session.prompt(message, source=source)

    assert script.requests[0].user_text == message
