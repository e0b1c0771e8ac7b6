"""The answer is data, and the last thing that happens."""

from __future__ import annotations

from pi_testing import text, tool_call

ANSWER = {"headline": "It works", "verdict": "good", "points": ["fast", "small"]}


async def test_answer_is_data_and_ends_the_run(pi_session, script):
    script.turn(tool_call("structured_output", arguments=ANSWER))

    await pi_session.prompt("judge it")

    assert pi_session.messages[-1].details == ANSWER
    assert len(script.requests) == 1


async def test_data_of_another_shape_is_sent_back(pi_session, script):
    script.turn(tool_call("structured_output", arguments={**ANSWER, "verdict": "splendid"})).turn(text("Oh."))

    await pi_session.prompt("judge it")

    assert script.requests[1].tool_results[0].is_error
    assert "verdict" in script.requests[1].tool_results[0].text
