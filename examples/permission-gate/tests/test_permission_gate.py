"""Dangerous commands run when the user allows them."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

DANGEROUS = ["rm -rf build", "sudo reboot", "chmod -R 777 ."]


@pytest.mark.parametrize("command", DANGEROUS)
async def test_user_decides_about_a_dangerous_command(command, pi_session, script, fake_ui, fake_tools):
    script.turn(tool_call("bash", command=command)).turn(tool_call("bash", command=command)).turn(text("Done."))
    fake_ui.answers("Refuse", "Allow")

    await pi_session.prompt("clean up")

    assert [dialog.title for dialog in fake_ui.asked] == [f"Dangerous command: {command}"] * 2
    assert script.requests[1].tool_results[0].text == "The user refused this command."
    assert fake_tools["bash"].calls == [{"command": command}]


@pytest.mark.pi(session={"ui": None})
async def test_where_no_user_can_answer_it_is_refused_and_the_rest_runs(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="sudo reboot"), tool_call("bash", command="ls")).turn(text("Done."))

    await pi_session.prompt("clean up")

    assert "no user is available to allow it" in script.requests[1].tool_results[0].text
    assert fake_tools["bash"].calls == [{"command": "ls"}]
