"""A fork can take the files back to where it begins."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.fixture
async def edited(pi_session, script, git):
    """A conversation of two prompts; each changed a.txt after it was asked. The second prompt's id."""
    git.init()
    file = git.folder / "a.txt"
    for number in ("two", "three"):

        def change(request, number=number):
            file.write_text(f"{number}\n")
            return text(f"It says {number}.")

        script.turn(change)
        await pi_session.prompt(f"Say {number}")
    return [entry_id for entry_id, _ in pi_session.get_user_messages_for_forking()]


@pytest.mark.parametrize(("which", "content"), [(0, "one\n"), (1, "two\n")], ids=["first", "second"])
async def test_the_files_go_back_to_the_prompt(pi_session, edited, git, fake_ui, which, content):
    fake_ui.answers(True)

    outcome = await pi_session.fork(edited[which])

    assert not outcome.cancelled
    assert len(fake_ui.asked) == 1
    assert (git.folder / "a.txt").read_text() == content


async def test_the_files_stay_if_the_user_declines(pi_session, edited, git, fake_ui):
    fake_ui.answers(False)

    await pi_session.fork(edited[0])

    assert [dialog.title for dialog in fake_ui.asked] == ["Take the files back, too?"]
    assert (git.folder / "a.txt").read_text() == "three\n"


async def test_without_a_repository_no_question_is_asked(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")

    await pi_session.fork(pi_session.get_user_messages_for_forking()[0][0])

    assert fake_ui.asked == []
