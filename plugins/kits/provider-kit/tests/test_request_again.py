"""A request that the transport makes again by itself: which failures, how often, and after how long."""

from __future__ import annotations

import asyncio

import pytest

import pi_provider_kit.again
from pi_hookspecs import AbortController, Aborted, RequestFailed, StreamOptions
from pi_provider_kit import HttpFailed, HttpRequest, stream_events
from pi_provider_kit.again import _pause_ms

SOON = b"retry-after-ms: 1"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    monkeypatch.setattr(pi_provider_kit.again, "_FIRST_PAUSE_MS", 1)


async def ask(http, url, **options):
    """Return what was received and how it ended."""
    request = HttpRequest(url=url, body={})
    try:
        return [data async for _, data in stream_events(http, request, StreamOptions(**options))], None
    except RequestFailed as failure:
        return [], failure


def failing(times, status=b"503 Overloaded", *headers):
    """Return a script that refuses so often and answers then."""
    left = iter([True] * times)

    async def script(wire):
        await (wire.whole(status, b"{}", SOON, *headers) if next(left, False) else wire.events(b"x"))

    return script


async def test_a_transient_failure_is_not_reported(serve, http):
    async with serve(failing(2)) as server:
        received, failure = await ask(http, server.url, max_retries=2)

    assert (received, failure) == ([b"x"], None)
    assert len(server.requests) == 3


@pytest.mark.parametrize("tries", [None, 0, 1])
async def test_nothing_is_tried_more_often_than_allowed(serve, http, tries):
    async with serve(failing(9)) as server:
        _, failure = await ask(http, server.url, max_retries=tries)

    assert str(failure) == "503 {}"
    assert len(server.requests) == 1 + (tries or 0)


@pytest.mark.parametrize("status", [b"400 Bad Request", b"401 Unauthorized", b"404 Not Found", b"307 Elsewhere"])
async def test_what_stays_wrong_is_reported_at_once(serve, http, status):
    async with serve(failing(9, status)) as server:
        _, failure = await ask(http, server.url, max_retries=3)

    assert failure.status == int(status[:3])
    assert len(server.requests) == 1


async def test_an_answer_that_has_begun_is_never_asked_for_again(serve, http):
    async def script(wire):
        await wire.events(b"x", end=False)
        wire.cut()

    async with serve(script) as server:
        _, failure = await ask(http, server.url, max_retries=3)

    assert failure.kind == "dropped"
    assert len(server.requests) == 1


async def test_a_connection_that_ended_without_an_answer_is_made_again(serve, http):
    broken = iter([True])

    async def script(wire):
        if next(broken, False):
            wire.cut()
        else:
            await wire.events(b"x")

    async with serve(script) as server:
        received, _ = await ask(http, server.url, max_retries=1)

    assert received == [b"x"]


async def test_an_abort_ends_the_wait(serve, http):
    controller = AbortController()

    async def script(wire):
        await wire.whole(b"503 Overloaded", b"{}", b"retry-after: 3600")
        asyncio.get_running_loop().call_later(0.05, controller.abort)

    async with serve(script) as server:
        with pytest.raises(Aborted):
            await ask(http, server.url, max_retries=3, signal=controller.signal)


def test_waits_grow_and_are_never_shorter_than_the_server_asks(monkeypatch):
    monkeypatch.undo()
    failure = HttpFailed("503", kind="status", status=503)
    at_once = HttpFailed("503", kind="status", status=503, retry_after_ms=0)
    asked = HttpFailed("429", kind="status", status=429, retry_after_ms=700_000)

    assert [_pause_ms(failure, attempt, 60_000) for attempt in range(6)] == [500, 1000, 2000, 4000, 8000, 8000]
    assert [_pause_ms(at_once, attempt, 60_000) for attempt in range(3)] == [500, 1000, 2000]
    assert [_pause_ms(asked, 0, longest) for longest in (None, 0, 700_000, 60_000)] == [700_000] * 3 + [None]
