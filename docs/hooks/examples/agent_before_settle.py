"""Makes the model continue until it says DONE, at most three times."""

from pi_hookspecs import AgentBeforeSettleResult, AssistantMessage, NewEntry, hookimpl

NUDGE = NewEntry(custom_type="nudge", content="Continue, and say DONE when you have finished.")


@hookimpl
def agent_before_settle(event):
    answers = [each for each in event.messages if isinstance(each, AssistantMessage)]
    if event.outcome != "completed" or "DONE" in answers[-1].text or len(answers) > 3:
        return None
    return AgentBeforeSettleResult(entries=[NUDGE], continue_=True)


# Test

from pi_testing import text


async def test_example(pi_session, script):
    script.turn(text("Half of it.")).turn(text("All of it. DONE"))

    answer = await pi_session.prompt("Write the tests")

    assert answer.text == "All of it. DONE"
