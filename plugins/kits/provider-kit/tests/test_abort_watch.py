"""A wait ends with the abort, and only with it."""

from __future__ import annotations

import asyncio

import pytest

from pi_hookspecs import AbortController, Aborted
from pi_provider_kit import AbortWatch


@pytest.fixture
def controller():
    return AbortController()


async def never():
    await asyncio.Event().wait()


async def soon(value):
    await asyncio.sleep(0)
    return value


async def test_what_is_awaited_is_returned(controller):
    with AbortWatch(controller.signal) as watch:
        assert [await watch(soon(1)), await watch(soon(2))] == [1, 2]
    with AbortWatch(None) as watch:
        assert await watch(soon(3)) == 3
        watch.raise_if_aborted()


async def test_an_abort_ends_the_wait_and_cancels_what_was_awaited(controller):
    cancelled = []

    async def work():
        try:
            await never()
        finally:
            cancelled.append(asyncio.current_task().cancelling())

    asyncio.get_running_loop().call_soon(controller.abort, "enough")
    with AbortWatch(controller.signal) as watch, pytest.raises(Aborted, match="enough"):
        await watch(work())

    assert cancelled == [1]
    assert asyncio.current_task().cancelling() == 0


async def test_after_the_abort_every_wait_ends(controller):
    with AbortWatch(controller.signal) as watch:
        watch.raise_if_aborted()
        controller.abort("enough")
        for _ in range(2):
            with pytest.raises(Aborted, match="enough"):
                await watch(never())
        with pytest.raises(Aborted, match="enough"):
            watch.raise_if_aborted()


async def test_a_run_that_is_aborted_already_begins_nothing(controller):
    controller.abort("too late")
    with AbortWatch(controller.signal) as watch, pytest.raises(Aborted, match="too late"):
        await watch(never())


async def test_what_the_work_raises_passes(controller):
    async def fails(problem):
        await asyncio.sleep(0)
        raise problem

    with AbortWatch(controller.signal) as watch:
        for problem in (ValueError("own"), TimeoutError("own"), StopAsyncIteration()):
            with pytest.raises(type(problem)):
                await watch(fails(problem))


async def test_a_cancelled_task_is_cancelled_not_aborted(controller):
    async def run():
        with AbortWatch(controller.signal) as watch:
            await watch(never())

    task = asyncio.create_task(run())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_closed_watch_no_longer_listens(controller):
    with AbortWatch(controller.signal) as watch:
        pass
    watch.close()
    controller.abort()

    assert await watch(soon(1)) == 1


async def test_two_watches_of_one_signal_end_together(controller):
    async def run():
        with AbortWatch(controller.signal) as watch:
            await watch(never())

    tasks = [asyncio.create_task(run()) for _ in range(2)]
    await asyncio.sleep(0)
    controller.abort("enough")

    assert [str(each) for each in await asyncio.gather(*tasks, return_exceptions=True)] == ["enough"] * 2
