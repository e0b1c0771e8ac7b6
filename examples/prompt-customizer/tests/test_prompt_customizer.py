"""The system prompt has the plugin's parts, each in its place."""

from __future__ import annotations

import pytest

from pi_core import Settings
from pi_testing import text

RULE = "Say in one sentence what a command is for"


@pytest.mark.pi(session={"settings": Settings.in_memory(agent_dir=".", trust=True)})
async def test_house_style_and_rule_are_in_the_prompt(pi_session, script, tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "style.md").write_text("Short sentences.\n")
    script.turn(text("Fine."))

    await pi_session.prompt("go")

    prompt = script.requests[0].system_prompt
    assert "<house_style>\nShort sentences.\n</house_style>" in prompt
    assert prompt.index("<rules>") < prompt.index(RULE) < prompt.index("</rules>") < prompt.index("<house_style>")


async def test_rule_goes_with_the_tool(pi_session, script):
    script.turn(text("Fine.")).turn(text("Fine."))

    await pi_session.prompt("go")
    pi_session.set_active_tools(["read"])
    await pi_session.prompt("go")

    assert [RULE in request.system_prompt for request in script.requests] == [True, False]
