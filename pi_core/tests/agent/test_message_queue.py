"""Messages that wait for the next turn keep their order, whatever happens to the run that took them."""

from __future__ import annotations

from pi_core.agent.queue import MessageQueue


def test_messages_of_a_run_that_ended_come_before_those_queued_meanwhile():
    queue = MessageQueue("all")
    queue.put("first")
    queue.put("second")
    assert queue.drain() == ["first", "second"]
    queue.mark_delivered("first")
    queue.put("third")

    queue.put_back()

    assert queue.peek() == ("second", "third")


def test_what_was_delivered_does_not_come_back():
    queue = MessageQueue("one-at-a-time")
    queue.put("first")
    queue.put("second")
    for message in queue.drain():
        queue.mark_delivered(message)

    queue.put_back()

    assert queue.drain() == ["second"]
