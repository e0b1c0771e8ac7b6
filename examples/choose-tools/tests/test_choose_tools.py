"""The user's choice of tools counts from the next request on, and belongs to the branch."""

from __future__ import annotations

import pytest

from pi_testing import text

pytestmark = pytest.mark.pi(tools=["read", "bash"])


async def test_user_switches_tools_off_and_on(pi_session, script, fake_ui):
    script.turn(text("Fine.")).turn(text("Fine."))

    fake_ui.answers("[x] bash", None)
    await pi_session.prompt("/tools")
    await pi_session.prompt("go")
    fake_ui.answers("[ ] bash", "[x] read", None)
    await pi_session.prompt("/tools")
    await pi_session.prompt("go")

    assert [request.tools for request in script.requests] == [("read",), ("bash",)]


async def test_choice_goes_with_the_branch(pi_session, script, fake_ui):
    script.turn(text("Hello."))
    await pi_session.prompt("hi")
    fake_ui.answers("[x] bash", None, "[x] read", "[ ] bash", None)
    await pi_session.prompt("/tools")
    first = pi_session.session_manager.leaf_id
    await pi_session.prompt("/tools")
    second = pi_session.get_active_tools()

    await pi_session.navigate_tree(first)

    assert (second, pi_session.get_active_tools()) == (["bash"], ["read"])
