"""Addresses are in the conversation, not in its file; other sessions are listed."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(stored=True)


async def test_no_address_is_stored_and_the_conversation_keeps_it(pi_session, script):
    script.turn(text("I wrote to bob.o'hara@mail.example.org.\n\tann@example.org")).turn(text("Yes."))

    await pi_session.prompt('Write to "Bob" <bob@example.org>\nann+x@example.org')
    await pi_session.prompt("And to ann@example.org?")

    stored = pi_session.session_file.read_text()
    assert "example.org" not in stored
    assert '\\"Bob\\" <[address]>\\n[address]' in stored
    assert "bob@example.org" in pi_session.messages[0].text


async def test_arguments_and_results_of_tools_are_stored_without(pi_session, script, fake_tools):
    script.turn(tool_call("bash", command="mail ann@example.org")).turn(text("Sent."))

    await pi_session.prompt("Send it")

    assert fake_tools["bash"].calls == [{"command": "mail ann@example.org"}]
    assert "example.org" not in pi_session.session_file.read_text()


async def test_other_sessions_are_listed_and_searched(pi_session, script, fake_ui):
    script.turn(text("At noon.")).turn(text("In Brest."))
    await pi_session.prompt("When is the tide?")
    first = pi_session.ctx.session.id
    await pi_session.ctx.new_session()
    await pi_session.prompt("Where is the tide?")

    for command in ("/others", "/others noon", "/others nowhere"):
        await pi_session.prompt(command)

    listed, found, none = (notice.message for notice in fake_ui.notices)
    assert listed.endswith(f"  When is the tide?  ({first})")
    assert "\n" not in listed
    assert found == listed
    assert none == "There is no such session of this folder."
