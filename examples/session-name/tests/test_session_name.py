"""The command names the session and prints the name."""

from __future__ import annotations

from pi_testing import text


async def test_a_session_gets_a_name_and_reports_it(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    for prompt in ("/session-name", "/session-name Fixing the build", "/session-name"):
        await pi_session.prompt(prompt)

    assert pi_session.session_manager.name == "Fixing the build"
    assert [notice.message for notice in fake_ui.notices] == [
        "This session has no name.",
        "This session is called 'Fixing the build' now.",
        "Fixing the build",
    ]
