"""``RunEvents`` alone: hooks, then the transcript, then the subscribers."""

from __future__ import annotations

import pytest
from attrs import evolve

from pi_core.conversation.message_queue import MessageQueue
from pi_core.conversation.run_events import RunEvents
from pi_core.conversation.system_prompts import PromptRecord
from pi_hookspecs import AbortController, AgentEndEvent, MessageEndEvent, MessageStartEvent, ToolCall


class Retry:
    """Notes what it is asked, during a retry."""

    attempt = 1

    def __init__(self):
        self.answers = []

    def plan_retry(self, answer):
        return True

    async def on_answer(self, answer):
        self.answers.append(answer)


@pytest.fixture
def events_of(runtime_of):
    def make(*plugins):
        runtime = runtime_of(*plugins)
        events = RunEvents(runtime, queue=MessageQueue(runtime), retry=Retry(), record=PromptRecord(runtime))
        events.runtime = runtime
        return events

    return make


async def test_a_message_is_stored_before_subscribers_get_its_end(events_of, answer):
    events, stored = events_of(), []
    events.runtime.events.add(lambda event: stored.append(len(events.runtime.manager.get_branch())))
    done = answer("Hello")
    await events.on_event(MessageEndEvent(message=done), AbortController().signal)

    assert (stored, events._retry.answers) == ([1], [done])


async def test_the_end_of_a_run_says_that_it_will_be_retried(events_of, recorder, answer):
    events = events_of()
    events.runtime.agent.append_message(answer(stop_reason="error", error_message="overloaded"))
    await events.on_event(AgentEndEvent(messages=()), AbortController().signal)

    assert recorder.events[-1].will_retry is True


async def test_hooks_are_called_before_subscribers_and_get_a_copy(events_of, plugin, answer):
    order = []

    def message_start(event):
        order.append("hook")
        event.message.content[0].arguments["path"] = "changed"

    call = ToolCall(id="c1", name="read", arguments={"path": "a"})
    events = events_of(plugin(message_start=message_start))
    events.runtime.events.add(lambda event: order.append(event.type))
    await events.on_event(MessageStartEvent(message=evolve(answer(), content=(call,))), AbortController().signal)

    assert (order, call.arguments) == (["hook", "message_start"], {"path": "a"})
