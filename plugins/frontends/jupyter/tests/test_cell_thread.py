"""The thread of a session, and a cell that is interrupted at any moment."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from random import Random

import pytest

from pi_jupyter.cell_thread import CellThread, _Work


@pytest.fixture
def thread():
    thread = CellThread()
    yield thread
    thread.close()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_the_result_of_the_work_is_returned_after_what_it_asked_the_cell_for(thread) -> None:
    async def work() -> list[object]:
        return [await thread.in_cell(threading.current_thread), threading.current_thread().name]

    assert thread.run(work()) == [threading.current_thread(), "pi"]


def test_an_interrupt_before_the_cell_waits_ends_the_work(thread) -> None:
    ended = []

    async def work() -> None:
        interrupt()
        time.sleep(0.05)  # noqa: ASYNC251 - the work keeps running before the cell has a turn, as on a busy computer
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        thread.run(work())

    assert ended == [True]


def test_the_first_interrupt_ends_the_work_softly_and_the_second_cancels_it(thread) -> None:
    asked = []

    async def work() -> None:
        interrupt()
        await asyncio.sleep(60)

    async def end_softly() -> None:
        asked.append("end")
        interrupt()

    with pytest.raises(KeyboardInterrupt):
        thread.run(work(), interrupt=end_softly)

    assert asked == ["end"]


def test_the_cell_after_an_interrupted_one_waits_for_its_own_work(thread) -> None:
    async def interrupted() -> None:
        interrupt()
        await asyncio.sleep(60)

    async def work() -> str:
        await asyncio.sleep(0.01)
        return "done"

    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            thread.run(interrupted())
        assert thread.run(work()) == "done"


def test_an_interrupt_before_anything_was_sent_cancels_the_work(thread, monkeypatch) -> None:
    ran = []
    monkeypatch.setattr(thread._loop, "call_soon_threadsafe", interrupted_once(thread._loop.call_soon_threadsafe))

    async def work() -> None:
        ran.append("work")

    async def end_softly() -> None:
        ran.append("end")

    with pytest.raises(KeyboardInterrupt):
        thread.run(work(), interrupt=end_softly)

    assert ran == []


def test_an_interrupt_while_another_one_is_handled_cancels_the_work(thread, monkeypatch) -> None:
    ended = []

    async def work() -> None:
        interrupt()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def end_softly() -> None:
        pass

    monkeypatch.setattr(_Work, "interrupt", interrupted_once(_Work.interrupt))
    with pytest.raises(KeyboardInterrupt):
        thread.run(work(), interrupt=end_softly)

    assert ended == [True]


def test_whenever_a_cell_is_interrupted_its_work_has_ended_and_the_next_one_runs(thread) -> None:
    came: list[int] = []
    running: set[int] = set()

    def raise_interrupt(*_) -> None:
        came.append(1)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raise_interrupt)
    random = Random(5)  # noqa: S311 - moments

    async def work(number: int) -> int:
        running.add(number)
        try:
            await asyncio.sleep(0)
            return await thread.in_cell(lambda: number)
        finally:
            running.discard(number)

    def interrupt_soon(seconds: float) -> None:
        time.sleep(seconds)
        interrupt()

    try:
        for number in range(400):
            sender = threading.Thread(target=interrupt_soon, args=(random.random() * 6e-4,))
            try:
                sender.start()
                assert thread.run(work(number)) == number
                while len(came) <= number:
                    time.sleep(0.001)
            except KeyboardInterrupt:
                sender.join()
            assert running == set()
            assert thread.run(work(-1)) == -1
    finally:
        signal.signal(signal.SIGINT, before)


def interrupted_once(function):
    """Return a function that is interrupted the first time before it has done anything."""
    times = []

    def call(*arguments):
        times.append(arguments)
        if len(times) == 1:
            raise KeyboardInterrupt
        return function(*arguments)

    return call
