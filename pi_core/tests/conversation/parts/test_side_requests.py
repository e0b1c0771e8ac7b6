"""``SideRequests`` alone: retries, and who accounts for the tokens."""

from __future__ import annotations

import pytest

from pi_core.conversation.side_requests import SideRequests
from pi_hookspecs import Context, NoModel, RetryDecision, SideRequest, UserMessage
from pi_testing import error, text, usage


class Retry:
    """Decides on one more try, at once."""

    def __init__(self, tries=0):
        self.tries = tries

    def decide(self, answer, attempt):
        if answer.stop_reason != "error" or attempt > self.tries:
            return None
        return RetryDecision(delay_ms=0, attempt=attempt, max_attempts=self.tries)


CONTEXT = Context(messages=(UserMessage(content="hi"),))


def accounts(runtime):
    return [entry.kind for entry in runtime.manager.get_branch() if entry.type == "usage"]


async def test_the_tokens_of_an_answer_are_stored(runtime, script):
    script.turn(text("Title"), usage(input=3, output=1))
    answer = await SideRequests(runtime, Retry(), {}).complete(CONTEXT, SideRequest(purpose="title"))

    assert (answer.text, accounts(runtime)) == ("Title", ["title"])
    assert runtime.agent.state.messages == []


@pytest.mark.parametrize(("carried", "stored"), [(True, []), (False, ["compaction"])])
async def test_the_tokens_of_a_summary_are_stored_unless_its_entry_carries_them(runtime, script, carried, stored):
    script.turn(text("Zebras."), usage(input=3, output=1))
    requests = SideRequests(runtime, Retry(), {})
    await requests.complete(CONTEXT, SideRequest(purpose="compaction"))
    before = accounts(runtime)
    requests.account_for_summaries(carried=carried)
    requests.account_for_summaries(carried=False)

    assert (before, accounts(runtime)) == ([], stored)


async def test_retries_of_summaries_are_emitted_and_others_are_not(runtime, script, recorder):
    requests = SideRequests(runtime, Retry(tries=1), {})
    for purpose in ("title", "compaction"):
        script.turn(error("overloaded")).turn(text("done"))
        await requests.complete(CONTEXT, SideRequest(purpose=purpose))

    assert [event.type for event in recorder.events if event.type.startswith("summarization")] == [
        "summarization_retry_scheduled",
        "summarization_retry_attempt_start",
        "summarization_retry_finished",
    ]


async def test_the_last_error_is_the_answer(runtime, script):
    script.turn(error("overloaded"))
    answer = await SideRequests(runtime, Retry(), {}).complete(CONTEXT, SideRequest(purpose="title"))

    assert (answer.stop_reason, answer.error_message) == ("error", "overloaded")


async def test_without_a_model_no_request_is_made(runtime_of):
    with pytest.raises(NoModel, match="--model"):
        await SideRequests(runtime_of(model=None), Retry(), {}).complete(CONTEXT, SideRequest(purpose="title"))
