"""The indicator is one of those that the plugin has."""

from __future__ import annotations

import pytest


@pytest.mark.pi(screen=True)
async def test_an_indicator_is_set_by_its_name(pi_session, fake_ui):
    await pi_session.prompt("/indicator pulse")

    assert (fake_ui.working_frames, fake_ui.working_message) == (("·", "•", "●", "•"), "Pondering")


@pytest.mark.pi(screen=True)
async def test_without_a_name_the_user_is_asked(pi_session, fake_ui):
    fake_ui.answers("dot")

    await pi_session.prompt("/indicator")
    await pi_session.prompt("/indicator default")

    assert fake_ui.asked[0][:2] == ("select", "Which one?")
    assert fake_ui.working_frames is None


@pytest.mark.pi(screen=True)
async def test_names_are_completed(pi_session):
    assert [each.value for each in await pi_session.completions.arguments("indicator", "p")] == ["pulse"]
