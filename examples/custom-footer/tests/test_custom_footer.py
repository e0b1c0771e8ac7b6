"""The footer has branch, window and model, and leaves its place to pi's."""

from __future__ import annotations

import pytest

from pi_testing import text, usage


@pytest.mark.pi(screen=True)
async def test_the_footer_says_how_full_the_window_is(pi_session, script, fake_ui):
    script.turn(text("Hello."), usage(input=64_000))

    await pi_session.prompt("hi")

    (row,) = fake_ui.screens["footer"].rows
    assert row.startswith("⎇ -  █████░░░░░ ")
    assert row.endswith(f" {pi_session.model.id}")


@pytest.mark.pi(screen=True)
async def test_the_branch_is_that_of_git(git, pi_session, script, fake_ui):
    git.init()
    script.turn(text("Hello."))

    await pi_session.prompt("hi")

    assert fake_ui.screens["footer"].rows[0].startswith("⎇ main  ░░░░░░░░░░ ")


@pytest.mark.pi(screen=True)
async def test_a_command_displays_the_footer_of_pi_and_this_one_again(pi_session, fake_ui):
    await pi_session.prompt("/footer")
    of_pi = dict(fake_ui.screens)
    await pi_session.prompt("/footer")

    assert of_pi == {}
    assert "footer" in fake_ui.screens
