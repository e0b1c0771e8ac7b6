"""``Retry`` alone: a policy that decides, a delay that can be aborted, and what is emitted of it."""

from __future__ import annotations

import asyncio

import pytest

from pi_core.conversation.retry import Retry
from pi_hookspecs import AbortController, RetryDecision


class Policy:
    """Decides what ``decisions`` say, one after another."""

    def __init__(self, *decisions):
        self.decisions = list(decisions)

    def decide(self, message, attempt, ctx):
        decision = self.decisions.pop(0)
        if isinstance(decision, Exception):
            raise decision
        return decision


def again(delay_ms=0, attempt=1, **fields):
    return RetryDecision(delay_ms=delay_ms, attempt=attempt, max_attempts=3, **fields)


@pytest.fixture
def failed(answer):
    def make(message="overloaded"):
        return answer(stop_reason="error", error_message=message)

    return make


@pytest.fixture
def retry_of(runtime_of, service):
    chosen = []

    async def set_model(model):
        chosen.append(model.reference)

    def make(*decisions):
        retry = Retry(runtime_of(service(Policy(*decisions))), set_model)
        retry.chosen = chosen
        return retry

    return make


async def test_nothing_is_retried_that_no_policy_decided_on(runtime, failed):
    retry = Retry(runtime, None)

    assert retry.plan_retry(failed()) is False
    assert await retry.wait_for_retry(AbortController().signal) is False


async def test_a_retry_is_counted_until_an_answer_comes(retry_of, recorder, failed, answer):
    retry = retry_of(again(attempt=1))
    planned = retry.plan_retry(failed())
    ready = await retry.wait_for_retry(AbortController().signal)
    during = retry.attempt
    await retry.on_answer(answer("Hello"))

    assert (planned, ready, during, retry.attempt) == (True, True, 1, 0)
    assert [(event.type, getattr(event, "success", None)) for event in recorder.events] == [
        ("auto_retry_start", None),
        ("auto_retry_end", True),
    ]


async def test_only_the_first_line_of_an_error_is_emitted(retry_of, recorder, failed):
    retry = retry_of(again())
    retry.plan_retry(failed("overloaded\nTry again later."))
    await retry.wait_for_retry(AbortController().signal)

    assert recorder.events[0].error_message == "overloaded"


async def test_an_aborted_delay_ends_the_retries(retry_of, recorder, failed, until):
    retry = retry_of(again(delay_ms=60_000))
    retry.plan_retry(failed())
    waiting = asyncio.ensure_future(retry.wait_for_retry(AbortController().signal))
    await until(lambda: retry.is_waiting)
    retry.abort()

    assert await waiting is False
    assert (recorder.events[-1].success, recorder.events[-1].final_error) == (False, "Retry cancelled")
    assert (retry.attempt, retry.is_waiting) == (0, False)


async def test_the_end_of_the_prompt_ends_the_delay(retry_of, failed, until):
    retry, prompt = retry_of(again(delay_ms=60_000)), AbortController()
    retry.plan_retry(failed())
    waiting = asyncio.ensure_future(retry.wait_for_retry(prompt.signal))
    await until(lambda: retry.is_waiting)
    prompt.abort("Operation aborted")

    assert await waiting is False


async def test_a_decision_may_name_another_model(retry_of, script, failed):
    retry = retry_of(again(model=script.model.reference))
    retry.plan_retry(failed())

    assert await retry.wait_for_retry(AbortController().signal) is True
    assert retry.chosen == [script.model.reference]


async def test_an_unknown_model_ends_the_retries_instead_of_asking_the_same_one_again(retry_of, recorder, failed):
    retry = retry_of(again(model="nowhere/none"))
    retry.plan_retry(failed())

    assert await retry.wait_for_retry(AbortController().signal) is False
    assert [event.type for event in recorder.events] == ["auto_retry_start", "extension_error", "auto_retry_end"]


async def test_a_policy_that_raises_is_reported_and_means_no_retry(retry_of, recorder, failed):
    retry = retry_of(ValueError("no table"))

    assert retry.plan_retry(failed()) is False
    assert "no table" in recorder.events[0].error


async def test_a_disabled_retry_does_not_ask_the_policy(retry_of, failed):
    retry = retry_of()
    retry.set_enabled(False)

    assert retry.decide(failed(), 1) is None
