"""Connections in a loop whose tasks start at once, as in that of the full screen."""

from __future__ import annotations

import asyncio
import socket
import sys

import pytest

from pi_hookspecs import StreamOptions
from pi_provider_kit import HttpRequest, stream_events
from pi_provider_kit.addresses import addresses_of, first_connected
from pi_testing import for_each


@pytest.fixture
async def own_tasks():
    """Make the loop use a factory of tasks; one of eager tasks where Python has it."""
    loop = asyncio.get_running_loop()
    eager = getattr(asyncio, "eager_task_factory", None)
    loop.set_task_factory(eager or (lambda loop, coro, **options: asyncio.Task(coro, loop=loop, **options)))
    yield
    loop.set_task_factory(None)


class Made:
    """A connection; its attempt lasts so long, and fails if it has no name."""

    def __init__(self, name="", seconds=0.0):
        self.name = name
        self.seconds = seconds
        self.ended = None

    async def __call__(self):
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.ended = "cancelled"
            raise
        if not self.name:
            raise ConnectionRefusedError(f"after {self.seconds * 100:g}")
        return self

    def abort(self):
        self.ended = "aborted"


NEVER = 3600.0


@pytest.mark.usefixtures("own_tasks")
async def test_a_request_is_answered(serve, http):
    async def script(wire):
        await wire.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9\r\n\r\ndata: x\n\n")

    async with serve(script) as server:
        request = HttpRequest(url=server.url, body={}, headers={})
        answer = [bytes(data) async for _, data in stream_events(http, request, StreamOptions())]

    assert answer == [b"x"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="no eager tasks")
@pytest.mark.usefixtures("own_tasks")
async def test_tasks_start_at_once():
    begun = []

    async def begin():
        begun.append(1)

    task = asyncio.create_task(begin())

    assert begun == [1]
    await task


@for_each(
    ("attempts", "winner"),
    [
        ([Made("a")], "a"),
        ([Made(), Made("b")], "b"),
        ([Made("a", NEVER), Made("b")], "b"),
        ([Made("a", NEVER), Made(), Made("c")], "c"),
        ([Made("a", 0.05), Made("b", NEVER)], "a"),
    ],
)
async def test_the_first_address_that_answers_is_taken_and_the_others_are_given_up(attempts, winner):
    found = await asyncio.wait_for(first_connected(attempts, 0.01), 30)

    assert found.name == winner
    assert found.ended is None
    assert [each.ended for each in attempts if each.seconds == NEVER] == ["cancelled"] * sum(
        each.seconds == NEVER for each in attempts
    )


async def test_two_that_answer_together_leave_one_connection():
    attempts = [Made("a", 0.02), Made("b", 0.02)]

    found = await first_connected(attempts, 0.0)

    assert [each.ended for each in attempts if each is not found] in (["aborted"], ["cancelled"], [None])


async def test_where_all_fail_the_first_failure_is_reported():
    with pytest.raises(ConnectionRefusedError, match="after 1"):
        await first_connected([Made(seconds=0.01), Made()], 30)

    with pytest.raises(OSError, match="no address"):
        await first_connected([], 30)


async def test_an_end_from_outside_ends_the_attempts():
    attempts = [Made("a", NEVER), Made("b", NEVER)]
    racing = asyncio.create_task(first_connected(attempts, 0.0))
    await asyncio.sleep(0.05)
    racing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await racing

    assert [each.ended for each in attempts] == ["cancelled", "cancelled"]


async def test_both_families_of_a_name_are_tried_early(monkeypatch):
    six, four = socket.AF_INET6, socket.AF_INET

    async def getaddrinfo(*_, **__):
        found = [(six, "::1"), (six, "::2"), (six, "::1"), (four, "127.0.0.1"), (four, "127.0.0.2")]
        return [(family, socket.SOCK_STREAM, 6, "", (address, 80)) for family, address in found]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)

    assert [*await addresses_of("name", 80)] == ["::1", "127.0.0.1", "::2", "127.0.0.2"]
