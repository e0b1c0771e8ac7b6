"""A helper works in a session of its own, and only its answer comes back."""

from __future__ import annotations

import pytest

from pi_core import Settings
from pi_testing import error, text, tool_call, usage

pytestmark = pytest.mark.pi(tools=["read", "grep", "bash", "subagent"])


async def test_helper_looks_around_and_its_answer_comes_back(pi_session, script, fake_tools, recorder):
    script.turn(tool_call("subagent", task="Find the loop"))
    script.turn(tool_call("grep", pattern="while"), usage(input=100, output=10)).turn(text("loop.py:7"))
    script.turn(text("It is in loop.py."))
    pi_session.subscribe(recorder)

    answer = await pi_session.prompt("Where is the loop?")

    asked, helped, _, last = script.requests
    assert helped.user_text == "Find the loop"
    assert len(helped.messages) == 1
    assert (asked.tools, helped.tools) == (("read", "grep", "bash", "subagent"), ("read", "grep"))
    assert "Finds out where things are in a project" in helped.system_prompt
    assert (last.tool_results[0].text, answer.text) == ("loop.py:7", "It is in loop.py.")
    assert last.tool_results[0].usage.input == 100
    assert "grep(pattern='while')" in recorder.of("tool_execution_update")[-1].partial_result.content[0].text


async def test_several_helpers_work_for_one_answer(pi_session, script):
    calls = [tool_call("subagent", task=task, agent="reviewer") for task in ("a.py", "b.py")]
    script.turn(*calls).turn(text("Nothing.")).turn(text("Nothing.")).turn(text("All is well."))

    await pi_session.prompt("Review it")

    assert {request.user_text for request in script.requests[1:3]} == {"a.py", "b.py"}
    assert [result.text for result in script.requests[3].tool_results] == ["Nothing.", "Nothing."]


@pytest.mark.pi(session={"settings": Settings.in_memory(agent_dir=".", trust=True)})
async def test_project_has_helpers_of_its_own(pi_session, script, tmp_path):
    (tmp_path / ".pi" / "agents").mkdir(parents=True)
    (tmp_path / ".pi" / "agents" / "tester.md").write_text("Runs tests.\n\nSay which fail.")
    script.turn(tool_call("subagent", task="Test it", agent="tester")).turn(text("None fail.")).turn(text("Good."))

    await pi_session.prompt("Test it")

    assert "Say which fail." in script.requests[1].system_prompt


@pytest.mark.pi(entry_points=["prompt-templates"])
async def test_workflow_is_a_prompt_template(pi_session, script):
    script.turn(text("Here is the plan."))

    await pi_session.prompt("/scout-and-plan a faster start")

    assert script.requests[0].user_text.startswith("Find out what has to change for this: a faster start")


async def test_the_model_learns_what_went_wrong(pi_session, script):
    script.turn(tool_call("subagent", task="x", agent="cook"), tool_call("subagent", task="y"))
    script.turn(error("overloaded")).turn(text("Hm."))

    await pi_session.prompt("go")

    unknown, failed = (result.text for result in script.requests[-1].tool_results)
    assert "There is no helper 'cook'. Known are" in unknown
    assert "reviewer: Reads code" in unknown
    assert failed == "The helper failed: overloaded"
