"""Lines that were sent: in order, without waiting for each other's answers, and stopped together."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import NamedTuple

import pytest

from pi_terminal_kit.jobs import Jobs


class Typed(NamedTuple):
    text: str


class Doing:
    """Does lines as a test says: each waits for ``accept`` of its name, then for ``end``."""

    def __init__(self):
        self.began, self.ended = [], []
        self.accepts, self.ends = defaultdict(asyncio.Event), defaultdict(asyncio.Event)
        self.jobs = Jobs(self.do, lambda: None)

    async def do(self, job):
        name = job.typed.text
        self.began.append(name)
        try:
            await self.accepts[name].wait()
            job.accepted.set()
            await self.ends[name].wait()
            self.ended.append(name)
        except asyncio.CancelledError:
            self.ended.append(f"{name} cancelled")

    async def accept(self, *names):
        for name in names:
            self.accepts[name].set()
        await self.settle()

    async def settle(self):
        for _ in range(20):
            await asyncio.sleep(0)


@pytest.fixture
async def doing():
    doing = Doing()
    for name in ("one", "two", "three"):
        doing.jobs.add(Typed(name))
    await doing.settle()
    yield doing
    doing.jobs.cancel()  # else the end waits for what is running
    await doing.jobs.end()


async def test_a_line_begins_when_the_one_before_it_is_accepted_not_when_it_is_done(doing):
    assert (doing.began, doing.jobs.waiting) == (["one"], ["two", "three"])
    await doing.accept("one")

    assert (doing.began, doing.jobs.waiting) == (["one", "two"], ["three"])


async def test_what_was_not_accepted_is_taken_back_in_order(doing):
    await doing.accept("one")

    assert doing.jobs.take_back() == ["two", "three"]
    await doing.settle()
    assert doing.ended == ["two cancelled"]


async def test_everything_is_cancelled_together(doing):
    await doing.accept("one")
    doing.jobs.cancel()
    await doing.settle()

    assert {*doing.ended[:2]} == {"one cancelled", "two cancelled"}
    assert doing.began[-1] == "three"


async def test_it_is_settled_when_all_is_done(doing):
    for name in ("one", "two", "three"):
        doing.ends[name].set()
    await doing.accept("one", "two", "three")
    await doing.jobs.settled()

    assert doing.ended == ["one", "two", "three"]
    assert not doing.jobs


async def test_a_line_that_ends_before_it_is_accepted_holds_nothing_up():
    began = []

    async def do(job):
        began.append(job.typed.text)

    jobs = Jobs(do, lambda: None)
    jobs.add(Typed("one"))
    jobs.add(Typed("two"))
    await jobs.settled()

    assert began == ["one", "two"]
