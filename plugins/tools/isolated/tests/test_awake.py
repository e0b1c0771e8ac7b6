"""When pi's event loop stays awake for the answer of a program: while it sleeps, it waits in its selector."""

from __future__ import annotations

import asyncio
import selectors
from typing import TYPE_CHECKING

import pytest

from pi_isolated.awake import AWAKE_SECONDS, Awake

if TYPE_CHECKING:
    from collections.abc import Iterator

TURN_SECONDS = AWAKE_SECONDS / 10


class Loop(asyncio.SelectorEventLoop):
    """An event loop with a clock of its own: a turn takes ``TURN_SECONDS``, and sleeping no time of the test."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept = 0.0
        super().__init__(Sleeping(self))

    def time(self) -> float:
        return self.now


class Sleeping(selectors.DefaultSelector):
    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.loop.slept += timeout or 0
        self.loop.now += timeout or TURN_SECONDS
        return super().select(0)


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


def slept(loop: Loop, awake: Awake, seconds: float) -> bool:
    """Wait for an answer that comes after some seconds; return whether the loop slept all the time."""

    async def ask() -> None:
        answer = loop.create_future()
        loop.call_later(seconds, answer.set_result, None)
        awake.expect(answer)
        await answer

    loop.slept = 0.0
    loop.run_until_complete(ask())
    return loop.slept > seconds / 2


SOON, LATE = AWAKE_SECONDS * 0.6, AWAKE_SECONDS * 100


def test_the_loop_stays_awake_for_answers_that_come_soon(loop):
    awake = Awake(loop)

    assert not any(slept(loop, awake, SOON) for _ in range(50))


def test_the_loop_stays_awake_only_for_a_moment(loop):
    assert slept(loop, Awake(loop), LATE)
    assert LATE - AWAKE_SECONDS * 1.5 < loop.slept < LATE - AWAKE_SECONDS / 2


def test_after_late_answers_the_loop_sleeps_for_more_and_more_of_them(loop):
    awake = Awake(loop)

    stayed = [number for number in range(610) if slept(loop, awake, LATE) and loop.slept < LATE - AWAKE_SECONDS / 2]

    assert stayed == [0, 5, 22, 87, 344, 601]


def test_after_late_answers_the_loop_sleeps_for_those_that_come_soon_and_then_tries_again(loop):
    awake = Awake(loop)
    slept(loop, awake, LATE)

    assert [slept(loop, awake, SOON) for _ in range(6)] == [True] * 4 + [False] * 2

    slept(loop, awake, LATE)

    assert [slept(loop, awake, SOON) for _ in range(6)] == [True] * 4 + [False] * 2


def test_late_answers_that_were_expected_at_the_same_time_count_once(loop):
    awake = Awake(loop)

    async def ask() -> None:
        answers = [loop.create_future() for _ in range(8)]
        for each in answers:
            loop.call_later(LATE, each.set_result, None)
            awake.expect(each)
        await asyncio.gather(*answers)

    loop.run_until_complete(ask())

    assert [slept(loop, awake, SOON) for _ in range(6)] == [True] * 4 + [False] * 2


def test_an_answer_that_is_cancelled_says_nothing(loop):
    awake = Awake(loop)

    async def cancel() -> None:
        answer = loop.create_future()
        awake.expect(answer)
        answer.cancel()
        await asyncio.sleep(LATE)

    slept(loop, awake, LATE)
    for _ in range(4):
        slept(loop, awake, SOON)
    loop.run_until_complete(cancel())
    slept(loop, awake, LATE)

    assert [slept(loop, awake, SOON) for _ in range(18)] == [True] * 16 + [False] * 2
