"""Files next to the module are found like the user's own."""

from __future__ import annotations

import pytest

from pi_testing import text

pytestmark = pytest.mark.pi(entry_points=["skills", "prompt-templates"])


async def test_the_template_expands_to_its_text(pi_session, script):
    script.turn(text("At noon."))

    await pi_session.prompt("/tide Heligoland")

    assert script.requests[0].user_text.strip() == "When is high water at Heligoland today?"


async def test_the_model_learns_of_the_skill(pi_session, script):
    script.turn(text("Fine."))

    await pi_session.prompt("hi")

    assert "How to read a tide table" in script.requests[0].system_prompt


async def test_the_theme_is_there(pi_session):
    themes = await pi_session.resources.load("theme")

    assert "tidal" in [theme.name for theme in themes.resources]
