"""Requests and responses are stored, and not sent to the model."""

from __future__ import annotations

import json

from pi_testing import text


def kept(pi_session):
    entries = pi_session.session_manager.get_entries()
    return [entry.data for entry in entries if getattr(entry, "custom_type", None) == "debug-provider"]


async def test_request_response_and_events_are_kept(pi_session, script):
    script.turn(text("Hello."))

    await pi_session.prompt("hi")

    request, response, events = kept(pi_session)
    assert request["request"]["messages"] == [{"role": "user", "text": "hi"}]
    assert response["status"] == 200
    assert events == {"events": ["text_start", "text_delta", "text_end"]}
    assert [message.role for message in pi_session.messages] == ["user", "assistant"]


async def test_the_latest_is_shown(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    await pi_session.prompt("/debug-provider")

    assert json.loads(fake_ui.notices[-1].message)["status"] == 200


async def test_an_entry_is_displayed_as_lines_that_fit(pi_session, script):
    script.turn(text("Hello."))
    await pi_session.prompt("hi " * 100)
    entry = next(each for each in pi_session.session_manager.get_entries() if each.type == "custom")

    lines = pi_session.registered.find("register_renderers", "debug-provider").thing.render(
        entry, width=40, expanded=False
    )

    assert len(lines) == 10
    assert max(map(len, lines)) == 40
