"""What waits for a slow reader stays small, and says the same."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import suppress

import pytest_asyncio

from pi_hookspecs import (
    AbortController,
    AgentSettledEvent,
    BashExecutionUpdateEvent,
    MessageBuilder,
    MessageUpdateEvent,
    Model,
    QueueUpdateEvent,
    ToolExecutionUpdateEvent,
    ToolResult,
)
from pi_rpc.outbox import FULL, OVERFULL, Outbox
from pi_testing.patience import PATIENCE

MODEL = Model(id="m", name="m", api="a", provider="p")


class Reader:
    """The other end of the pipe, which reads on request of the test."""

    def __init__(self) -> None:
        self.descriptor, self.written = os.pipe()
        os.set_blocking(self.descriptor, False)
        self.gone = 0
        self.outbox = Outbox(self.written, self._leave)
        self._text = b""

    def _leave(self) -> None:
        self.gone += 1

    async def fill(self) -> None:
        """Block the pipe."""
        self.outbox.send("x" * 200_000)
        await asyncio.sleep(0)
        assert self.outbox._blocked

    async def lines(self):
        """Read everything there is; the first line, which filled the pipe, is left out."""
        while self.outbox._size:
            with suppress(BlockingIOError):
                self._text += os.read(self.descriptor, 1 << 20)
            await asyncio.sleep(0)
        with suppress(BlockingIOError):
            self._text += os.read(self.descriptor, 1 << 20)
        return [json.loads(line) for line in self._text.splitlines()[1:]]


@pytest_asyncio.fixture
async def reader():
    reader = Reader()
    yield reader
    reader.outbox._unblock()
    os.close(reader.descriptor)
    with suppress(OSError):
        os.close(reader.written)


def deltas(count, text="ab", builder=None):
    builder = builder or MessageBuilder(MODEL)
    start = builder.text_start()
    updates = [start, *(builder.text(start.content_index, text) for _ in range(count))]
    return [MessageUpdateEvent(assistant_message_event=each) for each in updates]


async def test_deltas_of_a_block_become_one(reader):
    await reader.fill()
    for event in deltas(1000):
        reader.outbox.send_event(event, None)

    _, delta = await reader.lines()
    assert delta["assistantMessageEvent"] == {"type": "text_delta", "contentIndex": 0, "delta": "ab" * 1000}


async def test_deltas_of_two_messages_stay_apart(reader):
    await reader.fill()
    for event in [*deltas(2), *deltas(3)]:
        reader.outbox.send_event(event, None)

    kinds = [line["assistantMessageEvent"] for line in await reader.lines()]
    assert [each.get("delta") for each in kinds] == [None, "abab", None, "ababab"]


async def test_a_partial_result_replaces_the_one_before(reader):
    await reader.fill()
    for number in range(100):
        reader.outbox.send_event(
            ToolExecutionUpdateEvent(
                tool_call_id="c", tool_name="t", args={}, partial_result=ToolResult.text(str(number))
            ),
            None,
        )

    (update,) = await reader.lines()
    assert update["partialResult"]["content"] == [{"type": "text", "text": "99"}]


async def test_queue_events_carry_the_latest_state(reader):
    await reader.fill()
    for steering in (("a",), ("a", "b"), ()):
        reader.outbox.send_event(QueueUpdateEvent(steering=steering, follow_up=()), None)

    (update,) = await reader.lines()
    assert update["steering"] == []


async def test_output_of_a_command_is_bounded(reader):
    await reader.fill()
    for number in range(3000):
        reader.outbox.send_event(BashExecutionUpdateEvent(delta=f"{number:05}" * 200, id="b"), None)

    assert reader.outbox._size < FULL
    (update,) = await reader.lines()
    assert update["delta"].endswith("02999")


async def test_a_run_waits_for_the_reader(reader):
    await reader.fill()
    signal = AbortController().signal
    events = deltas(40, "x" * 50_000)

    waits = [reader.outbox.send_event(event, signal) for event in events]
    waiting = asyncio.ensure_future(waits[-1])
    await asyncio.sleep(0)
    was_waiting = not waiting.done()
    await reader.lines()
    await waiting

    assert (waits[1], was_waiting) == (None, True)
    for each in waits[:-1]:
        if each is not None:
            each.close()


async def test_a_burst_lets_others_have_their_turn_at_the_end_too(reader):
    signal = AbortController().signal
    reader.outbox.wait_no_more()

    waits = [reader.outbox.send_event(event, signal) for event in deltas(200)]

    turns = [each for each in waits if each is not None]
    assert len(turns) >= 3
    for each in turns:
        await each


async def test_an_abort_ends_the_waiting(reader):
    await reader.fill()
    abort = AbortController()
    reader.outbox.send("x" * 2 * FULL)

    waiting = asyncio.ensure_future(reader.outbox.send_event(AgentSettledEvent(), abort.signal))
    await asyncio.sleep(0)
    abort.abort()
    await asyncio.wait_for(waiting, PATIENCE)


async def test_unread_notices_are_dropped(reader):
    await reader.fill()
    for _ in range(6000):
        reader.outbox.send_line(b"x" * 1000, droppable=True)

    assert reader.outbox._size < OVERFULL + 2000


async def test_an_answer_is_never_dropped(reader):
    await reader.fill()
    reader.outbox.send("x" * 2 * OVERFULL)
    reader.outbox.send({"id": 1})

    assert (await reader.lines())[-1] == {"id": 1}


async def test_a_closed_reader_is_reported_once(reader):
    os.close(reader.descriptor)
    for _ in range(3):
        reader.outbox.send("x")
        await asyncio.sleep(0)

    assert reader.gone == 1
    await reader.outbox.close()
    reader.descriptor = os.open(os.devnull, os.O_RDONLY)


async def test_the_last_words_wait_for_a_reader_that_reads(reader):
    await reader.fill()
    reader.outbox.send({"last": "x" * 500_000})
    closing = asyncio.ensure_future(reader.outbox.close())

    assert len((await reader.lines())[-1]["last"]) == 500_000
    await closing


async def test_the_last_words_do_not_wait_for_ever(reader):
    await reader.fill()

    await asyncio.wait_for(reader.outbox.close(), PATIENCE)
