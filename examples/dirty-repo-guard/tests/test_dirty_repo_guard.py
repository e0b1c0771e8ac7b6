"""Uncommitted work holds the conversation, unless the user says otherwise."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.fixture
def dirty(git):
    git.init()
    (git.folder / "a.txt").write_text("two\n")


@pytest.mark.parametrize("answer", ["Stay here", None], ids=["stay", "dismissed"])
async def test_the_session_stays(dirty, pi_session, fake_ui, answer):
    fake_ui.answers(answer)

    assert not await pi_session.new_session()

    assert fake_ui.asked[0].title == "1 uncommitted file. Go on?"


async def test_the_user_may_go_on(dirty, pi_session, fake_ui):
    fake_ui.answers("Go on without a commit")

    assert await pi_session.new_session()

    assert len(fake_ui.asked) == 1


async def test_a_fork_is_held_too(dirty, pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")
    fake_ui.answers("Stay here")

    outcome = await pi_session.fork(pi_session.get_user_messages_for_forking()[0][0])

    assert outcome.cancelled


@pytest.mark.pi(session={"ui": None})
async def test_without_a_user_to_ask_it_stays(dirty, pi_session):
    assert not await pi_session.new_session()


async def test_a_clean_repository_asks_no_question(git, pi_session, fake_ui):
    git.init()

    assert await pi_session.new_session()

    assert fake_ui.asked == []
