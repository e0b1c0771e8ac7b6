"""The list is the branch's: what the model and the user do to it is there after a fork, a walk, and another start."""

from __future__ import annotations

import pytest

import pi_todo_list
from pi_core import SessionManager
from pi_hookspecs import UserError
from pi_testing import text, tool_call
from pi_todo_list.list import TodoList

pytestmark = pytest.mark.pi(plugins={"todo-list": pi_todo_list}, settings={"todo": {"enabled": True}})


def last_result(request):
    return request.tool_results[-1].text


async def test_the_model_keeps_the_list_and_the_user_sees_what_is_left(pi_session, script, fake_ui):
    script.turn(tool_call("todo", action="add", text="write\ntest\n"))
    script.turn(tool_call("todo", action="toggle", number=1)).turn(text("One to go."))

    await pi_session.prompt("plan it")
    await pi_session.prompt("/todo")

    assert last_result(script.requests[1]) == "[ ] 1 write\n[ ] 2 test"
    assert last_result(script.requests[2]) == "[x] 1 write\n[ ] 2 test"
    assert fake_ui.widgets["todo"] == ("To do: 1 of 2 left", "[ ] 2 test")
    assert fake_ui.notices[-1].message == "[x] 1 write\n[ ] 2 test"


async def test_the_user_keeps_the_list_too_and_the_display_goes_with_the_last_one(pi_session, fake_ui):
    await pi_session.prompt("/todo add buy milk")
    shown = fake_ui.widgets["todo"]
    await pi_session.prompt("/todo done 1")

    assert shown == ("To do: 1 of 1 left", "[ ] 1 buy milk")
    assert fake_ui.widgets.get("todo") is None
    assert fake_ui.notices[-1].message == "[x] 1 buy milk"


async def test_a_long_list_shows_its_beginning(pi_session, fake_ui):
    for number in range(10):
        await pi_session.prompt(f"/todo add step {number}")

    assert fake_ui.widgets["todo"][-2:] == ("[ ] 8 step 7", "... and 2 more, see /todo")


async def test_the_list_goes_with_the_branch(pi_session, script, fake_ui):
    script.turn(tool_call("todo", action="add", text="write")).turn(text("Noted."))
    script.turn(tool_call("todo", action="clear")).turn(text("Gone."))
    await pi_session.prompt("plan it")
    before = pi_session.session_manager.leaf_id
    await pi_session.prompt("forget it")
    cleared = fake_ui.widgets.get("todo")

    await pi_session.navigate_tree(before)

    assert cleared is None
    assert fake_ui.widgets["todo"] == ("To do: 1 of 1 left", "[ ] 1 write")


def earlier_session():
    manager = SessionManager.in_memory(".")
    manager.append_custom_entry("todo", [{"text": "write", "done": False}])
    manager.append_custom_entry("todo", [{"damaged": True}])
    return manager


@pytest.mark.pi(session={"session_manager": earlier_session()})
async def test_a_session_that_is_gone_on_with_has_its_list_and_damage_does_not_count(pi_session, fake_ui):
    await pi_session.prompt("/todo")

    assert fake_ui.notices[-1].message == "[ ] 1 write"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"action": "toggle", "number": 3}, "There is no to-do 3; there are 0."),
        ({"action": "remove", "number": -1}, "There is no to-do -1; there are 0."),
        ({"action": "add", "text": " \n"}, "The text is empty: describe what is to be done."),
        ({"action": "add", "text": "x" * 501}, "A to-do has at most 500 characters. Use fewer words."),
        ({"action": "add", "text": "x\n" * 201}, "The list would have more than 200 to-dos. Remove what is done."),
    ],
)
async def test_the_model_learns_what_is_wrong(pi_session, script, arguments, message):
    script.turn(tool_call("todo", **arguments)).turn(text("Oh."))

    await pi_session.prompt("go")

    assert last_result(script.requests[1]) == message


@pytest.mark.parametrize("words", ["frobnicate", "done x", "clear all"])
async def test_wrong_use_of_the_command_shows_how_to_use_it(pi_session, words):
    with pytest.raises(UserError, match="Use /todo, /todo add TEXT"):
        TodoList(pi_session)._command(words, pi_session.ctx)
