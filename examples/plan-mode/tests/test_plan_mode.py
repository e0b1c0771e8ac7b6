"""First a plan, then the work: the tools and instructions of the model in each phase."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call

pytestmark = pytest.mark.pi(tools=["read", "grep", "bash", "write"])

PLAN = "Plan:\n1. Read the code\n2. Write the fix"


def is_planning(request):
    return any("Plan mode" in str(message.content) for message in request.messages)


async def test_plan_is_made_agreed_to_and_carried_out(pi_session, script, fake_ui):
    script.turn(text(PLAN))
    script.turn(text("Read it. [DONE:1]"), tool_call("write", path="a", content="b")).turn(text("Fixed. [DONE:2]"))
    fake_ui.answers_to("Carry out this plan?", True)

    await pi_session.prompt("/plan")
    await pi_session.prompt("Fix it")

    planning, working, *_ = script.requests
    assert (planning.tools, working.tools) == (("read", "grep"), ("read", "grep", "bash", "write"))
    assert [is_planning(request) for request in (planning, working)] == [True, False]
    assert working.user_text.startswith("Carry out the plan.")
    assert fake_ui.asked[0].text == "[ ] 1. Read the code\n[ ] 2. Write the fix"
    assert fake_ui.widgets["plan-mode"] == ("[x] 1. Read the code", "[x] 2. Write the fix")


async def test_plan_that_is_refused_keeps_planning(pi_session, script, fake_ui):
    script.turn(text(PLAN)).turn(text("Hm."))
    fake_ui.answers(False)

    await pi_session.prompt("/plan")
    await pi_session.prompt("Fix it")
    await pi_session.prompt("Think again")

    assert script.requests[1].tools == ("read", "grep")
    assert fake_ui.statuses["plan-mode"] == "planning"


@pytest.mark.pi(session={"flags": {"plan": True}})
async def test_flag_begins_with_planning_and_the_command_ends_it(pi_session, script):
    script.turn(text("Looking.")).turn(text("Working."))

    await pi_session.prompt("Look")
    await pi_session.prompt("/plan")
    await pi_session.prompt("Work")

    assert [request.tools for request in script.requests] == [("read", "grep"), ("read", "grep", "bash", "write")]


async def test_state_goes_with_the_branch(pi_session, script, fake_ui):
    script.turn(text("Hello.")).turn(text("Looking."))
    await pi_session.prompt("hi")
    before = pi_session.session_manager.leaf_id
    await pi_session.prompt("/plan")
    await pi_session.prompt("look")

    await pi_session.navigate_tree(before)

    assert "plan-mode" not in fake_ui.statuses
    assert pi_session.get_active_tools() == ["read", "grep", "bash", "write"]
    assert script.requests[1].tools == ("read", "grep")
