"""The list is the branch's: what the model does to it is there after a fork, a walk, and another start."""

from __future__ import annotations

import pytest

from pi_core import SessionManager
from pi_testing import text, tool_call


def last_result(request):
    return request.tool_results[-1].text


async def test_model_keeps_the_list_and_the_user_sees_it(pi_session, script, fake_ui):
    script.turn(tool_call("todo", action="add", text="write"), tool_call("todo", action="add", text="test"))
    script.turn(tool_call("todo", action="toggle", number=1)).turn(text("One to go."))

    await pi_session.prompt("plan it")
    await pi_session.prompt("/todos")

    assert last_result(script.requests[1]) == "[ ] 1 write\n[ ] 2 test"
    assert last_result(script.requests[2]) == "[x] 1 write\n[ ] 2 test"
    assert fake_ui.notices[0].message == "[x] 1 write\n[ ] 2 test"


async def test_list_goes_with_the_branch(pi_session, script, fake_ui):
    script.turn(tool_call("todo", action="add", text="write")).turn(text("Noted."))
    script.turn(tool_call("todo", action="clear")).turn(text("Gone."))
    await pi_session.prompt("plan it")
    before = pi_session.session_manager.leaf_id
    await pi_session.prompt("forget it")

    await pi_session.prompt("/todos")
    await pi_session.navigate_tree(before)
    await pi_session.prompt("/todos")

    assert [notice.message for notice in fake_ui.notices] == ["Nothing to do.", "[ ] 1 write"]


def earlier_session():
    manager = SessionManager.in_memory(".")
    manager.append_custom_entry("todo", [{"text": "write", "done": True}])
    return manager


@pytest.mark.pi(session={"session_manager": earlier_session()})
async def test_session_that_is_gone_on_with_has_its_list(pi_session, fake_ui):
    await pi_session.prompt("/todos")

    assert fake_ui.notices[0].message == "[x] 1 write"


async def test_the_model_learns_of_an_invalid_number(pi_session, script):
    script.turn(tool_call("todo", action="toggle", number=3)).turn(text("Oh."))

    await pi_session.prompt("tick it")

    assert last_result(script.requests[1]) == "There is no to-do 3; there are 0."
