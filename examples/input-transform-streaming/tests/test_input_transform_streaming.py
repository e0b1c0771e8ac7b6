"""What is said during an answer reaches the model with a remark."""

from __future__ import annotations

import pytest

from pi_testing import text, tool_call


@pytest.mark.parametrize(
    ("behavior", "message"),
    [
        ("steer", "(Sent while you work; consider it before you continue the task.) Use tabs."),
        ("followUp", "(Sent while you worked; finish the task first.) Use tabs."),
    ],
)
async def test_input_in_the_meantime_comes_with_a_remark(pi_session, script, behavior, message):
    async def meanwhile(request):
        await pi_session.prompt("Use tabs.", streaming_behavior=behavior)
        return tool_call("read", path="a.txt")

    script.turn(meanwhile).turn(text("I see.")).turn(text("Done."))

    await pi_session.prompt("Format a.txt")

    assert script.requests[-1].user_text == message


async def test_messages_between_answers_stay_unchanged(pi_session, script):
    script.turn(text("Fine."))

    await pi_session.prompt("Use tabs.")

    assert script.requests[0].user_text == "Use tabs."
