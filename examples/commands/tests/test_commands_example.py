"""Slash commands are listed with their origin."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.pi(entry_points=["prompt-templates"])


@pytest.fixture
def template(pi_agent_dir):
    file = pi_agent_dir / "prompts" / "review.md"
    file.parent.mkdir()
    file.write_text("---\ndescription: Look for mistakes\n---\nReview $1.")
    return file


async def test_the_chosen_command_names_its_origin(template, pi_session, fake_ui):
    fake_ui.answers("/review")

    await pi_session.prompt("/commands")

    assert fake_ui.asked[0].options == ("/commands", "/review")
    assert fake_ui.notices[-1].message == f"/review (prompt, {template}): Look for mistakes"


async def test_one_source_alone_can_be_listed(template, pi_session, fake_ui):
    fake_ui.answers(None)

    await pi_session.prompt("/commands extension")

    assert fake_ui.asked[0].options == ("/commands",)
    assert fake_ui.notices == []


async def test_sources_are_completed(pi_session):
    (command,) = [each for each in await pi_session.get_commands() if each.name == "commands"]

    assert command.description == "List commands, templates and skills"
    assert pi_session.registered.find("register_commands", "commands").thing.complete("s") == ["skill"]
