"""``model_usage``: once for each request, regardless of who made it and how it ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from pi_hookspecs import BeforeModelRequestResult, Context, RetryDecision, SideRequest, UserMessage, hookimpl
from pi_testing import error, stall, text, tool_call, usage

QUESTION = Context(messages=(UserMessage(content="sum up"),))


class Counts:
    """Keeps the usage, refuses selected requests, and repeats a failed request once."""

    def __init__(self):
        self.begun = []
        self.used = []
        self.received = []
        self.refuses = False

    @hookimpl
    def before_model_request(self, event):
        self.begun.append(event.request_id)
        return BeforeModelRequestResult(block=True) if self.refuses else None

    @hookimpl
    def model_usage(self, event):
        self.used.append(event)
        self.received.append("model_usage")

    @hookimpl
    def message_end(self, event):
        self.received.append(event.message.role)

    @hookimpl
    def register_services(self):
        return [self]

    def decide(self, answer, attempt, ctx):
        return RetryDecision(attempt=1, max_attempts=1, delay_ms=0) if attempt == 1 else None


@pytest.fixture
def counts():
    return Counts()


@pytest.fixture
def pi_plugins(counts):
    return {"counts": counts}


async def test_usage_is_reported_before_the_message_is_complete(pi_session, script, counts):
    script.turn(text("one"), usage(input=5, output=2))
    await pi_session.prompt("first")

    (used,) = counts.used
    assert (used.purpose, used.plugin, used.model, used.error) == ("conversation", None, script.model, None)
    assert (used.usage.input, used.usage.output) == (5, 2)
    assert used.duration_ms >= 0
    assert counts.received == ["user", "model_usage", "assistant"]


async def test_failed_and_repeated_requests_are_reported(pi_session, script, counts):
    script.turn(text("half"), usage(input=5), error("overloaded")).turn(text("done"))
    await pi_session.prompt("first")

    assert [(each.attempt, each.error) for each in counts.used] == [(1, "overloaded"), (2, None)]
    assert [each.request_id for each in counts.used] == counts.begun


async def test_each_turn_and_each_request_of_a_plugin_is_reported_once(pi_session, script, counts, fake_tools):
    script.turn(tool_call("nothing")).turn(text("done")).turn(text("a title"))
    await pi_session.prompt("first")
    await pi_session.complete(QUESTION, SideRequest(purpose="title"))

    assert [each.purpose for each in counts.used] == ["conversation", "conversation", "title"]
    assert [each.request_id for each in counts.used] == counts.begun


async def test_a_refused_request_is_not_reported(pi_session, script, counts):
    counts.refuses = True
    await pi_session.prompt("first")

    assert (len(counts.begun), counts.used) == (1, [])


async def test_an_aborted_request_is_reported(pi_session, script, counts):
    script.turn(text("half"), stall())
    pi_session.subscribe(lambda event: pi_session.request_abort("enough"), "text_delta")
    await pi_session.prompt("first")

    assert [each.error for each in counts.used] == ["Request was aborted"]


async def test_a_request_whose_task_is_cancelled_is_reported(pi_session, script, counts):
    began = asyncio.Event()
    script.turn(text("half"), stall())
    pi_session.subscribe(lambda event: began.set(), "text_delta")
    task = asyncio.create_task(pi_session.prompt("first"))
    await began.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task

    assert [each.request_id for each in counts.used] == counts.begun
    assert counts.used[0].error == "Request was aborted"


async def test_usage_comes_with_what_was_sent(pi_session, script, counts):
    pi_session.hooks.add("tier", "before_provider_request", lambda event: {**event.payload, "tier": "flex"})
    script.turn(text("one"))
    await pi_session.prompt("first")

    assert counts.used[-1].payload is script.requests[-1].payload
    assert counts.used[-1].payload["tier"] == "flex"
    assert "flex" not in repr(counts.used[-1])
