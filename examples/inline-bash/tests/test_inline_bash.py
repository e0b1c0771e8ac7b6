"""The output of commands in a prompt replaces them."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.mark.parametrize(
    ("prompt", "meant"),
    [
        ("What is !{echo 1 + 1}, and !{echo 2}?", "What is 1 + 1, and 2?"),
        ("!{exit 3}", "[exit 3: exit code 3] "),
        ("Say !{echo '!'}{x}", "Say !{x}"),
        ("Nothing !here", "Nothing !here"),
    ],
    ids=["two", "failure", "once", "none"],
)
async def test_the_output_replaces_the_command(pi_session, script, prompt, meant):
    script.turn(text("Fine."))

    await pi_session.prompt(prompt)

    assert script.requests[0].user_text == meant


async def test_commands_run_in_the_sessions_folder(pi_session, script, tmp_path):
    script.turn(text("Fine."))

    await pi_session.prompt("!{pwd}")

    assert script.requests[0].user_text == str(tmp_path)


async def test_a_plugins_text_is_not_run_as_a_command(pi_session, script):
    script.turn(text("Fine."))

    await pi_session.prompt("!{pwd}", source="extension")

    assert script.requests[0].user_text == "!{pwd}"
