"""Several tasks at once: how many, in which order their records come, and how they end."""

from __future__ import annotations

import asyncio

import pytest

from pi_process_kit import LocalEngine, StopTasks, run_tasks


async def test_records_come_as_tasks_end_and_no_more_than_asked_for_run_at_once() -> None:
    running, most, doors = 0, 0, {name: asyncio.Event() for name in "abc"}

    async def run(name: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await doors[name].wait()
        running -= 1
        return name

    engine = LocalEngine(run, 2)
    for name in doors:
        engine.submit(name)
    records, came = engine.as_completed(), []
    for name in "bca":
        doors[name].set()
        came.append(await anext(records))

    assert came == ["b", "c", "a"]
    assert most == 2
    assert [each async for each in records] == []


async def test_after_a_task_that_stops_all_none_begins() -> None:
    begun = []

    async def run(number: int) -> int:
        begun.append(number)
        if number == 2:
            raise StopTasks
        return number

    engine = LocalEngine(run, 1)
    for number in range(5):
        engine.submit(number)

    assert [each async for each in engine.as_completed()] == [0, 1]
    assert begun == [0, 1, 2]


async def test_what_a_task_raises_ends_the_records_and_cancel_ends_the_others() -> None:
    ended = asyncio.Event()

    async def run(number: int) -> int:
        if number == 0:
            raise ValueError("a bug")
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return number

    engine = LocalEngine(run, 2)
    engine.submit(0)
    engine.submit(1)
    asyncio.get_running_loop().call_later(0.05, lambda: asyncio.ensure_future(engine.cancel()))

    with pytest.raises((ValueError, asyncio.CancelledError)):
        [each async for each in engine.as_completed()]
    assert ended.is_set()


async def test_run_tasks_returns_the_records_and_reports_each_when_it_is_there():
    reported = []

    async def double(number):
        return 2 * number

    records = await run_tasks(LocalEngine(double, 2), [1, 2, 3], reported.append)

    assert records == reported == [2, 4, 6]


async def test_run_tasks_cancels_what_runs_when_a_record_is_refused():
    cancelled = asyncio.Event()

    async def run_one(name):
        if name == "first":
            return name
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def refuse(record):
        raise ValueError(record)

    with pytest.raises(ValueError, match="first"):
        await run_tasks(LocalEngine(run_one, 2), ["first", "endless"], refuse)

    assert cancelled.is_set()
