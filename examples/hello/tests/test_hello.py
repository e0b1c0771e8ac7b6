"""The model calls the tool, and learns from its schema how."""

from __future__ import annotations

from pi_testing import text, tool_call


async def test_the_model_greets_a_person(pi_session, script):
    script.turn(tool_call("hello", name="Ann")).turn(text("Done."))

    await pi_session.prompt("greet Ann")

    assert script.requests[1].tool_results[0].text == "Hello, Ann!"


async def test_a_call_without_a_name_is_refused(pi_session, script):
    script.turn(tool_call("hello")).turn(text("Sorry."))

    await pi_session.prompt("greet")

    (result,) = script.requests[1].tool_results
    assert result.is_error
    assert "name" in result.text
