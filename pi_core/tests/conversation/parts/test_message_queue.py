"""``MessageQueue`` alone: what waits for a run, and which events that makes."""

from __future__ import annotations

import pytest

from pi_core.conversation.message_queue import MessageQueue, user_message
from pi_hookspecs import AgentBusy, CustomMessage


@pytest.fixture
def queue(runtime):
    return MessageQueue(runtime)


def updates(recorder):
    return [(event.steering, event.follow_up) for event in recorder.events if event.type == "queue_update"]


async def test_what_is_queued_is_emitted_once_per_change(queue, recorder):
    queue.add([user_message("left")], "steer")
    queue.emit_update()
    queue.add([user_message("then stop")], "followUp")

    assert updates(recorder) == [(("left",), ()), (("left",), ("then stop",))]


async def test_a_message_that_does_not_say_how_to_queue_is_refused_and_not_queued(queue, recorder):
    with pytest.raises(AgentBusy, match="streamingBehavior"):
        queue.add([user_message("left")], None)

    assert queue.count == 0
    assert updates(recorder) == []


async def test_clearing_returns_the_texts_and_emits_the_empty_queue(queue, recorder):
    queue.add([user_message("left")], "steer")
    queue.add([user_message("then stop")], "followUp")

    assert queue.clear() == (("left",), ("then stop",))
    assert updates(recorder)[-1] == ((), ())


async def test_clearing_an_empty_queue_emits_nothing(queue, recorder):
    queue.clear()

    assert updates(recorder) == []


@pytest.mark.parametrize(
    ("clear", "left"), [("clear_steering", ((), ("then stop",))), ("clear_follow_up", (("left",), ()))]
)
async def test_clearing_one_kind_emits_what_is_left(queue, recorder, clear, left):
    queue.add([user_message("left")], "steer")
    queue.add([user_message("then stop")], "followUp")
    dropped = getattr(queue, clear)()

    assert len(dropped) == 1
    assert updates(recorder)[-1] == left


async def test_messages_for_the_next_prompt_are_taken_once_and_survive_a_clear(queue):
    note = CustomMessage(custom_type="note", content="remember")
    queue.add_for_next_turn(note)
    queue.clear()

    assert queue.take_for_next_turn() == [note]
    assert queue.take_for_next_turn() == []


async def test_a_reset_drops_messages_for_the_next_prompt_too(queue):
    queue.add_for_next_turn(CustomMessage(custom_type="note", content="remember"))
    queue.add([user_message("left")], "steer")
    queue.reset()

    assert (queue.take_for_next_turn(), queue.count) == ([], 0)
