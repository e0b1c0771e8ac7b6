"""A dialog without an answer closes."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(("command", "message"), [("timed", "Not going on."), ("signalled", "No answer in time")])
async def test_silence_ends_the_dialog(command, message, pi_session, fake_ui):
    fake_ui.never_answers()

    await pi_session.prompt(f"/{command} 0.01")

    assert [notice.message for notice in fake_ui.notices] == [message]


@pytest.mark.parametrize(("command", "no"), [("timed", "Not going on."), ("signalled", "The user said no.")])
async def test_answer_in_time_counts(command, no, pi_session, fake_ui):
    fake_ui.answers(True, False)

    await pi_session.prompt(f"/{command} 60")
    await pi_session.prompt(f"/{command}")

    assert [notice.message for notice in fake_ui.notices] == ["Going on.", no]
