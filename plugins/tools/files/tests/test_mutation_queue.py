"""Changes of one file wait for each other, changes of others do not."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pi_tools import file_mutation_queue, mutation_queue


async def work(log, path, name, seconds=0.01):
    async with file_mutation_queue(str(path)):
        log.append(f"{name} in")
        await asyncio.sleep(seconds)
        log.append(f"{name} out")


async def test_changes_of_one_file_come_one_after_another_in_order(tmp_path):
    log = []
    (tmp_path / "link").symlink_to("a")

    await asyncio.gather(*(work(log, tmp_path / ("link" if n % 2 else "a"), n) for n in range(4)))

    assert log == [f"{n} {step}" for n in range(4) for step in ("in", "out")]
    assert mutation_queue._last == {}


async def test_changes_of_different_files_do_not_wait(tmp_path):
    log = []

    await asyncio.gather(work(log, tmp_path / "a", "a"), work(log, tmp_path / "b", "b"))

    assert log[:2] == ["a in", "b in"]


async def test_a_change_that_fails_or_is_cancelled_lets_the_next_in(tmp_path):
    log = []
    path = str(tmp_path / "a")

    async def fail():
        async with file_mutation_queue(path):
            raise ValueError(path)

    waiting = asyncio.create_task(work(log, path, "first", 0.05))
    cancelled = asyncio.create_task(work(log, path, "cancelled"))
    await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(ValueError, match=r"a$"):
        await fail()
    await work(log, path, "last")
    await waiting

    assert log == ["first in", "first out", "last in", "last out"]
    assert mutation_queue._last == {}


async def test_changes_from_other_threads_and_event_loops_wait_too(tmp_path):
    (tmp_path / "a").write_text("0")

    async def count():
        for _ in range(50):
            async with file_mutation_queue(str(tmp_path / "a")):
                number = int((tmp_path / "a").read_text())
                await asyncio.sleep(0)
                (tmp_path / "a").write_text(str(number + 1))

    other = threading.Thread(target=lambda: asyncio.run(count()))
    other.start()
    await asyncio.gather(count(), count())
    await asyncio.to_thread(other.join)

    assert (tmp_path / "a").read_text() == "150"
    assert mutation_queue._last == {}
