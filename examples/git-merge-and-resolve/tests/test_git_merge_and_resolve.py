"""Conflicts of a merge go to the model, a merge without any does not."""

from __future__ import annotations

import pytest

from pi_testing import text


@pytest.fixture
def branches(git):
    """Branches that changed the same line, and one that changed another file."""
    git.init()
    for branch, file in (("other", "b.txt"), ("rival", "a.txt")):
        git("switch", "--quiet", "--create", branch, "main")
        git.commit(branch, file, f"{branch}\n")
    git("switch", "--quiet", "main")
    git.commit("ours", "a.txt", "ours\n")


async def test_conflicts_are_the_models_to_resolve(branches, pi_session, script, git):
    script.turn(text("Both survive."))

    await pi_session.prompt("/merge rival")

    assert "branch rival" in script.requests[0].user_text
    assert "\n- a.txt\n" in script.requests[0].user_text
    assert git("status", "--porcelain") == "UU a.txt"


async def test_a_merge_without_conflicts_asks_no_question(branches, pi_session, script, git, fake_ui):
    await pi_session.prompt("/merge other")

    assert script.requests == []
    assert (git.folder / "b.txt").read_text() == "other\n"
    assert "b.txt" in fake_ui.notices[0].message


@pytest.mark.parametrize("args", ["", " --abort"], ids=["nothing", "option"])
async def test_a_branch_must_be_named(branches, pi_session, fake_ui, args):
    await pi_session.prompt(f"/merge{args}")

    assert fake_ui.notices[0].message == "Say which branch: /merge BRANCH"


async def test_a_missing_branch_is_reported(branches, pi_session, script, fake_ui):
    await pi_session.prompt("/merge nowhere")

    assert fake_ui.notices[0].message.startswith("Could not merge: merge: nowhere")
    assert script.requests == []
