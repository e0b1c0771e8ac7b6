"""The header shows the prompt that is sent."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.mark.pi(session={"system_prompt": f"You are a gardener, {'and ' * 20}a cook.\nBe brief."})
async def test_header_shows_how_the_prompt_begins(pi_session, script, fake_ui):
    script.turn(text("Yes."))

    await pi_session.prompt("hello")

    length, first = fake_ui.widgets["system-prompt"]
    assert length == f"System prompt: {len(script.requests[0].system_prompt)} characters"
    assert first.startswith("You are a gardener, and and")
    assert first.endswith("...")
    assert len(first) == 72
