"""The model reads the message's text, people see what the renderer makes of it."""

from __future__ import annotations

import pytest

from pi_testing import text


async def test_the_model_reads_the_text(pi_session, script):
    script.turn(text("I see."))

    await pi_session.prompt("/status-update The build is done")
    await pi_session.prompt("Well?")

    assert [message.text for message in script.requests[0].messages] == ["The build is done", "Well?"]


@pytest.fixture
async def rendered(pi_session):
    await pi_session.prompt("/status-update warning The disk is nearly full")
    (message,) = pi_session.messages
    renderer = pi_session.registered.find("register_renderers", "status-update").thing
    return lambda **how: renderer.render(message, **how)


async def test_people_see_the_level_before_the_text(rendered):
    assert rendered(width=20, expanded=False) == ["[!] The disk is", "nearly full"]


async def test_the_expanded_form_has_the_time(rendered):
    assert rendered(width=80, expanded=True)[1].startswith("    at 20")


@pytest.mark.pi(entry_points=["export-html", "session-jsonl"])
async def test_an_exported_session_shows_it_so(pi_session, script, tmp_path):
    script.turn(text("I see."))
    await pi_session.prompt("/status-update error The disk is full")
    await pi_session.prompt("Well?")

    page = await pi_session.export(tmp_path / "page.html")

    assert "[x] The disk is full" in page.read_text()
