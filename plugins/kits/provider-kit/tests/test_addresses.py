"""Connections to a name with several addresses, also in a loop whose tasks start at once, as in the full screen."""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import suppress

import pytest

from pi_hookspecs import StreamOptions
from pi_provider_kit import HttpRequest, stream_events
from pi_provider_kit.addresses import addresses_of, first_connected
from pi_provider_kit.pool import Pool
from pi_testing import for_each, until
from pi_testing.patience import PATIENCE


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

    def close(self):
        self.ended = "closed"


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
    found = await asyncio.wait_for(first_connected(attempts, 0.01), PATIENCE)

    assert found.name == winner
    assert found.ended is None
    await until(lambda: all(each.ended == "cancelled" for each in attempts if each.seconds == NEVER))


async def test_two_that_answer_together_leave_one_connection():
    attempts = [Made("a", 0.02), Made("b", 0.02)]

    found = await first_connected(attempts, 0.0)

    await until(lambda: [each.ended for each in attempts if each is not found] in (["closed"], ["cancelled"]))
    assert found.ended is None


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

    await until(lambda: [each.ended for each in attempts] == ["cancelled", "cancelled"])


async def test_what_is_made_at_the_moment_of_an_abort_is_closed():
    made = Made("a")

    async def made_at_the_end():
        racing.cancel()
        return made

    racing = asyncio.create_task(first_connected([made_at_the_end], 30))
    with pytest.raises(asyncio.CancelledError):
        await racing

    await until(lambda: made.ended == "closed")


async def test_what_is_made_although_it_was_given_up_is_closed():
    late = Made("late")

    async def cannot_be_stopped():
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(NEVER)
        return late

    found = await first_connected([cannot_be_stopped, Made("b")], 0.0)

    assert found.name == "b"
    await until(lambda: late.ended == "closed")


@pytest.mark.parametrize("steps", range(12))
async def test_whenever_a_connection_is_given_up_the_server_sees_its_end(steps):
    open_at_server = set()

    async def answer(reader, writer):
        open_at_server.add(writer)
        with suppress(ConnectionError):
            await reader.read()
        writer.close()
        open_at_server.discard(writer)

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        pool = Pool()
        origin = ("http", "localhost", server.sockets[0].getsockname()[1])
        connecting = asyncio.create_task(pool._connection(origin, 30))
        for _ in range(steps):
            await asyncio.sleep(0.0005)
        connecting.cancel()
        with suppress(asyncio.CancelledError):
            await connecting
        await pool.aclose()
        await asyncio.sleep(0.01)

        await until(lambda: not open_at_server)


async def test_both_families_of_a_name_are_tried_early_and_scopes_are_kept(monkeypatch):
    six, four = socket.AF_INET6, socket.AF_INET
    found = [
        *((six, ("fe80::1", 80, 0, 2)), (six, ("::2", 80, 0, 0)), (six, ("fe80::1", 80, 0, 2))),
        *((four, ("127.0.0.1", 80)), (four, ("127.0.0.2", 80))),
    ]

    async def getaddrinfo(*_, **__):
        return [(family, socket.SOCK_STREAM, 6, "", address) for family, address in found]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)

    assert [*await addresses_of("name", 80)] == [found[0], found[3], found[1], found[4]]


@for_each(
    ("host", "family"),
    [("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6), ("fe80::1%lo", socket.AF_INET6)],
)
async def test_an_address_is_not_looked_up(host, family, monkeypatch):
    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", None)

    assert [*await addresses_of(host, 80)] == [(family, (host, 80))]
