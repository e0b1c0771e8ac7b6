"""The guard asks the user, whose answer counts; the tool runs git by way of pi."""

import shutil

import pytest

from pi_testing import steps

pytestmark = [
    pytest.mark.skipif(shutil.which("node") is None, reason="needs node"),
    pytest.mark.pi(entry_points=["isolated"], extensions=[".."]),
]


@pytest.mark.parametrize(("allowed", "runs"), [(True, 1), (False, 0)])
async def test_the_user_decides_about_a_forced_push(pi_session, script, fake_ui, fake_tools, allowed, runs):
    fake_ui.answers(allowed)
    script.turn(steps.tool_call("bash", command="git push --force")).turn(steps.text("done"))

    await pi_session.prompt("Push it")

    assert len(fake_tools["bash"].calls) == runs
    assert ("--force-with-lease" in script.requests[1].tool_results[0].text) is not allowed


async def test_other_commands_run_without_a_question(pi_session, script, fake_tools):
    script.turn(steps.tool_call("bash", command="git push --force-with-lease")).turn(steps.text("done"))

    await pi_session.prompt("Push it")

    assert len(fake_tools["bash"].calls) == 1


async def test_the_tool_says_how_old_a_branch_is(pi_session, script, git):
    git.init()
    script.turn(steps.tool_call("branch_age", branch="main"), steps.tool_call("branch_age", branch="gone"))
    script.turn(steps.text("done"))

    await pi_session.prompt("How old?")

    there, gone = script.requests[1].tool_results
    assert there.text.endswith("ago")
    assert "unknown revision" in gone.text
    assert gone.is_error
