"""What a session changed is committed when it ends."""

from __future__ import annotations

from pi_testing import text


async def test_changes_are_committed_under_the_last_answer(pi_session, script, git, fake_ui):
    git.init()
    script.turn(text("Added the greeting.\n\nIt says hello."))
    await pi_session.prompt("greet")
    (pi_session.cwd / "greeting.txt").write_text("hello")

    await pi_session.dispose()

    assert git("log", "-1", "--format=%s") == "[pi] Added the greeting."
    assert git("status", "--porcelain") == ""
    assert [notice.message for notice in fake_ui.notices] == ["Committed what this session changed."]


async def test_without_changes_nothing_is_committed(pi_session, git):
    git.init()
    await pi_session.dispose()

    assert git("log", "--format=%s") == "first"


async def test_a_new_session_commits_nothing(pi_session, git):
    git.init()
    (pi_session.cwd / "greeting.txt").write_text("hello")

    await pi_session.new_session()

    assert git("log", "--format=%s") == "first"
