"""The system prompt changes while the pirate is aboard."""

from __future__ import annotations

from pi_testing import text


async def test_pirate_comes_aboard_and_leaves(pi_session, script, fake_ui):
    script.turn(text("Arr.")).turn(text("Good day."))

    await pi_session.prompt("/pirate")
    await pi_session.prompt("hello")
    await pi_session.prompt("/pirate")
    await pi_session.prompt("hello")

    assert ["Talk like a pirate" in request.system_prompt for request in script.requests] == [True, False]
    assert [notice.message for notice in fake_ui.notices] == ["Arr!", "Back ashore."]
