"""Events come out as they went in, and the end is never waited for in vain."""

from __future__ import annotations

import asyncio

import pytest

from pi_core import EventStream


def ends_with_done(event):
    return (event,) if event == "done" else None


@pytest.fixture
async def stream():
    return EventStream(ends_with_done)


async def test_events_come_in_the_order_they_were_pushed(stream):
    for event in ("a", "b", "done"):
        stream.push(event)

    assert [event async for event in stream] == ["a", "b", "done"]


async def test_a_consumer_that_waits_gets_what_is_pushed_later(stream):
    async def produce():
        for event in ("a", "b", "done"):
            await asyncio.sleep(0)
            stream.push(event)

    producing = asyncio.create_task(produce())

    assert [event async for event in stream] == ["a", "b", "done"]
    await producing


async def test_the_final_event_is_the_result_whether_or_not_anybody_iterates(stream):
    waiting = asyncio.create_task(stream.result())
    await asyncio.sleep(0)
    stream.push("a")
    stream.push("done")

    assert await waiting == "done"
    assert await stream.result() == "done"


async def test_what_is_pushed_after_the_end_is_ignored(stream):
    stream.push("done")
    stream.push("late")

    assert [event async for event in stream] == ["done"]


async def test_a_given_result_ends_the_stream(stream):
    stream.push("a")
    stream.end("given")
    stream.end("too late")

    assert [event async for event in stream] == ["a"]
    assert await stream.result() == "given"


@pytest.mark.parametrize("result", [None, (), ""])
async def test_a_result_may_be_nothing_or_empty(result):
    stream = EventStream(lambda event: (result,))
    stream.push("last")

    assert await stream.result() == result


async def test_an_end_without_a_result_is_an_error_only_for_who_asks_for_it(stream):
    stream.push("a")
    stream.end()

    assert [event async for event in stream] == ["a"]
    with pytest.raises(EOFError, match="ended without a result"):
        await stream.result()


async def test_an_end_wakes_the_consumer_that_waits(stream):
    waiting = asyncio.create_task(anext(stream, "over"))
    await asyncio.sleep(0)
    stream.end()

    assert await waiting == "over"


async def test_a_failure_comes_after_the_events_before_it(stream):
    stream.push("a")
    stream.fail(ValueError("broken"))

    assert await anext(stream) == "a"
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)
    with pytest.raises(ValueError, match="broken"):
        await stream.result()


async def test_a_failure_after_the_end_changes_nothing(stream):
    stream.push("done")
    stream.fail(ValueError("late"))

    assert [event async for event in stream] == ["done"]
    assert await stream.result() == "done"


async def test_a_cancelled_waiter_does_not_take_the_result_from_others(stream):
    impatient = asyncio.create_task(stream.result())
    await asyncio.sleep(0)
    impatient.cancel()
    stream.push("done")

    assert await stream.result() == "done"
